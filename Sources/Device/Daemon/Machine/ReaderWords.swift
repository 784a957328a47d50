// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol
import ReaderProtocol
import SignedFormats

// Translates reports of the reader process into the terms of the command protocol.

extension Notice {
    /// The notice for an event; nil if there is nothing to show.
    ///
    /// Nothing is shown for a reader or template that was not asked for, or for an event that
    /// another event of the reader will announce.
    init?(
        _ event: ReaderEvent, of readers: [ReaderDescription], templates: [Template] = [],
        isEnrolling: Bool = false
    ) {
        guard let reader = readers.first(where: { $0.id == event.reader }) else { return nil }
        switch event.kind {
        case .fingerNeeded:
            // The number of scans distinguishes an enrolment from the comparison before it.
            let total = isEnrolling ? UInt8(clamping: reader.enrolStages) : nil
            self.init(
                .touch, scan: reader.scanType, total: total,
                subject: Bytes(reader.name.utf8.prefix(Limit.text)))
        // The reader will report that it needs the finger again.
        case .round: return nil
        case .fingerPresent: self.init(.fingerPresent)
        case .fingerGone: self.init(.fingerGone)
        case .lost(let index):
            guard templates.indices.contains(index) else { return nil }
            self.init(.printLost, subject: Bytes(templates[index].finger.name.bytes))
        case .retry(let reason): self.init(.retry, scan: reader.scanType, retry: reason)
        case .stage(let done, let total):
            self.init(.stage, done: UInt8(clamping: done), total: UInt8(clamping: total))
        }
    }
}

extension ReaderAnswer {
    init(_ reader: ReaderDescription) {
        self.init(
            readerID: Bytes(reader.id.utf8.prefix(Limit.label)),
            scan: reader.scanType, total: UInt8(clamping: reader.enrolStages),
            name: Bytes(reader.name.utf8.prefix(Limit.label)),
            driver: Bytes(reader.driver.utf8.prefix(Limit.label)),
            features: ReaderFeatures(reader))
    }
}

extension ReaderFeatures {
    fileprivate init(_ reader: ReaderDescription) {
        self = []
        if reader.features.contains(.identify) { insert(.identify) }
        if reader.features.contains(.storage) { insert(.storage) }
        if reader.features.contains(.list) { insert(.storageList) }
        if reader.features.contains(.updatePrint) { insert(.update) }
        if reader.matchesOnHost { insert(.hostMatching) }
    }
}

extension Denial {
    /// The denial for a reader's fault.
    ///
    /// A driver's own words are not passed on. The label `of` is needed: without it, `.cancelled`
    /// and the like would denote a fault again, and the call would recurse without end.
    init(of fault: ReaderFault) {
        switch fault {
        case .noReader: self.init(.noReader)
        case .removed: self.init(.readerRemoved)
        case .tooHot: self.init(.readerTooHot)
        case .busy: self.init(.readerBusy)
        case .cancelled: self.init(.cancelled)
        case .timedOut: self.init(.timedOut)
        case .suspended: self.init(.suspending)
        case .duplicate: self.init(.fingerOnReader)
        case .full: self.init(.readerFull)
        case .notFound: self.init(.printLost)
        case .protocolError: self.init(.readerConfused)
        case .notSupported: self.init(.readerFailed, subject: Detail.readerUnable.bytes)
        case .invalidTemplate: self.init(.readerFailed, subject: Detail.printNotAccepted.bytes)
        case .processEnded: self.init(.readerFailed, subject: Detail.readerProcessEnded.bytes)
        // The driver's words are only logged.
        case .general: self.init(.readerFailed, subject: Detail.readerDriverFailed.bytes)
        }
    }
}
