// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import ReaderProtocol

/// Collects and checks the replies of the reader process to one request.
///
/// Each reply is compared with the request. `processEnded` is thrown for any reply that the request
/// does not permit; the caller then stops listening, and the process is killed.
struct Heard {
    private var prints: [ReaderPrint] = []
    private var part: [UInt8] = []
    private var template: Template?
    private var examinations: [String: Int] = [:]

    /// Adds a stored print to the list; at most `ReaderLimit.prints` may precede its end.
    mutating func take(_ print: ReaderPrint) throws(ReaderFault) {
        guard prints.count < ReaderLimit.prints else { throw .processEnded }
        prints.append(print)
    }

    /// Adds a part of the enrolled template; at most `Template.limit` bytes, and one template.
    mutating func take(_ bytes: [UInt8], isLast: Bool) throws(ReaderFault) {
        guard template == nil, part.count + bytes.count <= Template.limit else {
            throw .processEnded
        }
        part += bytes
        guard isLast else { return }
        guard let whole = try? Template(bytes: part) else { throw .processEnded }
        template = whole
    }

    /// The prints received since the last call, as the contents of the reader that was asked.
    mutating func contents(
        of identity: ReaderIdentity, on reader: ReaderDescription
    ) throws(ReaderFault) -> ReaderContents {
        guard identity == reader.identity, reader.features.contains(.list) else {
            throw .processEnded
        }
        defer { prints = [] }
        return ReaderContents(prints, of: identity)
    }

    /// The prints received before a scan, to be examined.
    ///
    /// Permitted twice for each reader, because the readers may have to be found again once.
    mutating func examined(
        _ identity: ReaderIdentity, on reader: ReaderDescription
    ) throws(ReaderFault) -> ReaderContents {
        let count = examinations[reader.id, default: 0]
        guard count < 2 else { throw .processEnded }
        examinations[reader.id] = count + 1
        return try contents(of: identity, on: reader)
    }

    /// Accepts a match with one of the templates, on a reader that was asked and for which the
    /// template was made.
    func match(
        at index: Int, on id: String, lost: Set<Int>, asked: [ReaderDescription],
        templates: [Template]
    ) throws(ReaderFault) -> ListedMatch {
        guard templates.indices.contains(index), lost.allSatisfy(templates.indices.contains),
            !lost.contains(index), let reader = asked.first(where: { $0.id == id })
        else { throw .processEnded }
        let matched = templates[index]
        guard matched.driver == reader.driver, matched.deviceID == reader.deviceID else {
            throw .processEnded
        }
        return ListedMatch(result: .matched(index: index), reader: id, lost: lost)
    }

    /// Accepts a mismatch on a reader that was asked, with at most one print that the reader has
    /// found instead.
    func noMatch(
        on id: String, lost: Set<Int>, asked: [ReaderDescription], templates: [Template]
    ) throws(ReaderFault) -> ListedMatch {
        guard lost.allSatisfy(templates.indices.contains), prints.count <= 1,
            asked.contains(where: { $0.id == id })
        else { throw .processEnded }
        return ListedMatch(result: .noMatch, reader: id, stranger: prints.first, lost: lost)
    }

    /// The enrolled template, which must be for the requested finger, account and reader.
    func enrolled(
        _ finger: Finger, account: String, on reader: ReaderDescription
    ) throws(ReaderFault) -> Template {
        guard let template, template.finger == finger, template.account == account,
            template.driver == reader.driver, template.deviceID == reader.deviceID
        else { throw .processEnded }
        return template
    }
}

extension Template {
    /// Whether the template refers to a print stored on readers of this kind.
    func isStored(on reader: ReaderDescription) -> Bool {
        isStoredOnReader && driver == reader.driver && deviceID == reader.deviceID
    }
}
