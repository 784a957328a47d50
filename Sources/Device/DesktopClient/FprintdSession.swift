// SPDX-License-Identifier: Apache-2.0
import DBus
import DesktopInterface
import LoginProtocol
import MainContext

/// One run of a command of fprintd's: the calls on the bus, and what is said about them.
///
/// It has no right of its own. The service asks the bus who the caller is, and polkit what that user
/// may do; the claim ends when this process does.
@ServiceActor
final class FprintdSession {
    /// Why a command fails: the text that is shown.
    struct Failure: Error, Equatable {
        let text: String

        init(_ what: String, _ fault: BusFault) { text = "\(what): \(fault.shown)" }

        init(_ text: String) { self.text = text }
    }

    private let bus: BusConnection
    private let say: (String) -> Void
    /// How long an answer may take.
    private static let limit = Duration.seconds(25)
    /// How long an answer may take for which polkit asks for a password.
    private static let patience = Duration.seconds(600)

    init(_ bus: BusConnection, say: @escaping (String) -> Void) {
        self.bus = bus
        self.say = say
    }

    /// Carries a command out.
    ///
    /// - Returns: whether it succeeded: a finger was enrolled, or matched; a list or a deletion
    ///   always.
    /// - Throws: what failed.
    func carryOut(_ command: FprintdCommand) async throws(Failure) -> Bool {
        switch command {
        case .enroll(let finger, let user): return try await enroll(finger, user: user)
        case .verify(let finger, let user): return try await verify(finger, user: user)
        case .list(let users): try await list(users)
        case .delete(let deletions): try await delete(deletions)
        }
        return true
    }

    private func enroll(_ finger: String, user: String) async throws(Failure) -> Bool {
        guard FingerName.finger(named: finger) != nil else {
            let names = Finger.allCases.map(FingerName.text).joined(separator: ", ")
            throw Failure("Invalid finger name '\(finger)'. Name must be one of \(names)")
        }
        let device = try await claimedDevice(for: user, otherwise: "Impossible to enroll")
        let scan = try await Scan(of: device, on: bus)
        say("Enrolling \(finger) finger.")
        try await call(
            "EnrollStart", [.string(finger)], at: device, otherwise: "EnrollStart failed",
            limit: Self.patience)
        var result = ""
        while let event = try await scan.next() {
            guard case .enrolling(let report, let isDone) = event else { continue }
            say("Enroll result: \(report)")
            result = report
            if isDone { break }
        }
        try await call("EnrollStop", at: device, otherwise: "EnrollStop failed")
        try await call("Release", at: device, otherwise: "ReleaseDevice failed")
        return result == "enroll-completed"
    }

    private func verify(_ wanted: String?, user: String) async throws(Failure) -> Bool {
        let device = try await claimedDevice(for: user, otherwise: "Impossible to verify")
        let fingers: [String]
        do throws(BusFault) {
            fingers = try await enrolled(user, at: device)
        } catch { throw Failure("ListEnrolledFingers failed", error) }
        guard let first = fingers.first else {
            throw Failure("No fingers enrolled for this device.")
        }
        say("Listing enrolled fingers:")
        show(fingers)
        if let wanted, wanted != FingerName.any, !fingers.contains(wanted) {
            throw Failure("Finger '\(wanted)' not enrolled for user \(user).")
        }
        let scan = try await Scan(of: device, on: bus)
        try await call(
            "VerifyStart", [.string(wanted ?? first)], at: device, otherwise: "VerifyStart failed",
            limit: Self.patience)
        say("Verify started!")
        var result = ""
        loop: while let event = try await scan.next() {
            switch event {
            case .selected(let finger): say("Verifying: \(finger)")
            case .verifying(let report, let isDone):
                say("Verify result: \(report) (\(isDone ? "done" : "not done"))")
                result = report
                if isDone { break loop }
            case .enrolling: continue
            }
        }
        try await call("VerifyStop", at: device, otherwise: "VerifyStop failed")
        try await call("Release", at: device, otherwise: "ReleaseDevice failed")
        return result == "verify-match"
    }

    private func list(_ users: [String]) async throws(Failure) {
        for device in try await devices() {
            say("Using device \(device)")
            for user in users {
                let name = await property("name", of: device)
                let fingers: [String]
                do throws(BusFault) {
                    fingers = try await enrolled(user, at: device)
                } catch {
                    guard error.isFor(.noEnrolledPrints) else {
                        throw Failure("ListEnrolledFingers failed", error)
                    }
                    fingers = []
                }
                guard !fingers.isEmpty else {
                    say("User \(user) has no fingers enrolled for \(name).")
                    continue
                }
                let kind = await property("scan-type", of: device)
                say("Fingerprints for user \(user) on \(name) (\(kind)):")
                show(fingers)
            }
        }
    }

    private func delete(_ deletions: [FprintdCommand.Deletion]) async throws(Failure) {
        for device in try await devices() {
            say("Using device \(device)")
            let name = await property("name", of: device)
            for deletion in deletions { try await delete(deletion, at: device, name: name) }
        }
    }

    private func delete(
        _ deletion: FprintdCommand.Deletion, at device: String, name: String
    ) async throws(Failure) {
        try await call(
            "Claim", [.string(deletion.user)], at: device, otherwise: "failed to claim device",
            limit: Self.patience)
        do throws(BusFault) {
            _ = try await answer(
                deletion.finger == nil ? "DeleteEnrolledFingers2" : "DeleteEnrolledFinger",
                deletion.finger.map { [.string($0)] } ?? [], at: device, limit: Self.patience)
            if let finger = deletion.finger {
                say("Fingerprint \(finger) of user \(deletion.user) deleted on \(name)")
            } else {
                say("Fingerprints of user \(deletion.user) deleted on \(name)")
            }
        } catch {
            guard error.isFor(.noEnrolledPrints) else {
                throw Failure("Failed to delete fingerprints", error)
            }
            say("No fingerprints to delete on \(name)")
        }
        try await call("Release", at: device, otherwise: "ReleaseDevice failed")
    }
}

extension FprintdSession {
    /// Claims the default device for a user, and returns its path.
    private func claimedDevice(
        for user: String, otherwise what: String
    ) async throws(Failure) -> String {
        let device: String
        do throws(BusFault) {
            let values = try await answer(
                "GetDefaultDevice", at: InterfaceDescription.managerPath,
                of: InterfaceDescription.manager, giving: "(o)")
            guard case .objectPath(let path)? = values.first else { throw .malformed }
            device = path
        } catch { throw Failure(what, error) }
        say("Using device \(device)")
        try await call(
            "Claim", [.string(user)], at: device, otherwise: "failed to claim device",
            limit: Self.patience)
        return device
    }

    /// The paths of all devices, of which there is at least one.
    private func devices() async throws(Failure) -> [String] {
        var devices: [String] = []
        do throws(BusFault) {
            let values = try await answer(
                "GetDevices", at: InterfaceDescription.managerPath,
                of: InterfaceDescription.manager, giving: "(ao)")
            guard case .array(_, let paths)? = values.first else { throw .malformed }
            for case .objectPath(let path) in paths { devices.append(path) }
        } catch { throw Failure("Impossible to get devices", error) }
        guard !devices.isEmpty else { throw Failure("No devices available") }
        say("found \(devices.count) devices")
        for device in devices { say("Device at \(device)") }
        return devices
    }

    private func enrolled(_ user: String, at device: String) async throws(BusFault) -> [String] {
        let values = try await answer(
            "ListEnrolledFingers", [.string(user)], at: device, giving: "(as)",
            limit: Self.patience)
        guard case .array(_, let names)? = values.first else { throw .malformed }
        return names.compactMap(\.string)
    }

    private func show(_ fingers: [String]) {
        for (index, finger) in fingers.enumerated() { say(" - #\(index): \(finger)") }
    }

    /// The text of a device's property; empty if it has none.
    private func property(_ name: String, of device: String) async -> String {
        let call = BusCall.property(
            name, of: InterfaceDescription.device, at: device, from: InterfaceDescription.name)
        let answer = try? await bus.call(call, limit: Self.limit)
        return answer?.values.first?.variant?.string ?? ""
    }

    /// Calls a method of a device that returns nothing.
    private func call(
        _ member: String, _ arguments: [BusValue] = [], at device: String, otherwise what: String,
        limit: Duration = FprintdSession.limit
    ) async throws(Failure) {
        do throws(BusFault) {
            _ = try await answer(member, arguments, at: device, limit: limit)
        } catch { throw Failure(what, error) }
    }

    private func answer(
        _ member: String, _ arguments: [BusValue] = [], at path: String,
        of interface: String = InterfaceDescription.device, giving answer: String = "()",
        limit: Duration = FprintdSession.limit
    ) async throws(BusFault) -> [BusValue] {
        try await bus.call(
            BusCall(
                to: InterfaceDescription.name, path: path, interface: interface, member: member,
                arguments: arguments, answer: answer, startsService: true), limit: limit
        ).values
    }
}

extension BusFault {
    /// What is shown of it: for an error of the service, GLib's text with the error's name, which
    /// scripts look for.
    fileprivate var shown: String {
        if case .refused(let text) = self { text } else { description }
    }

    /// Whether it is an error of the interface, of this kind.
    fileprivate func isFor(_ kind: DesktopFault.Kind) -> Bool {
        guard case .refused(let text) = self else { return false }
        return text.hasPrefix("GDBus.Error:\(InterfaceDescription.errorPrefix)\(kind.rawValue):")
    }
}
