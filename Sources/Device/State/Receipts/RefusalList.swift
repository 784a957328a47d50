// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import Posix
import SignedFormats

/// The denied attempts at an account that its owner is shown, oldest first.
///
/// Similar attempts within a day share an entry. Separate limits apply to the account's own
/// requests, to those of all other users, to each of these users, and to each reason, so that one
/// requester cannot displace the entries of others.
package struct RefusalList: Equatable, Sendable {
    /// The maximum number of entries for the account's own requests.
    static let own = 50
    /// The maximum number of entries for the requests of all other users, and of any one of them.
    static let (others, perRequester) = (50, 20)
    /// The maximum number of entries for one user's requests with one reason.
    static let perReason = 10
    /// The number of seconds after an entry's first attempt during which similar attempts share it.
    static let span: UInt64 = 86_400

    /// The entries, ordered by the time of their last attempt.
    package private(set) var refusals: [Refusal] = []

    /// Creates an empty list.
    package init() {}

    /// Adds one attempt at the account with this name.
    ///
    /// Returns whether the attempt got a new entry. Entries beyond the limits are dropped, oldest
    /// first; if the other users together have too many, the user with the most entries loses one.
    @discardableResult
    package mutating func add(_ refusal: Refusal, to account: AccountName) -> Bool {
        if let index = refusals.lastIndex(where: { $0.includes(refusal) }) {
            var entry = refusals.remove(at: index)
            entry.count = max(entry.count, entry.count &+ 1)
            entry.until = max(entry.until, refusal.until)
            refusals.append(entry)
            return false
        }
        refusals.append(refusal)
        let requester = refusal.requester
        trim(to: Self.perReason) { $0.requester == requester && $0.reason == refusal.reason }
        guard requester != account else {
            trim(to: Self.own) { $0.requester == account }
            return true
        }
        trim(to: Self.perRequester) { $0.requester == requester }
        while refusals.count(where: { $0.requester != account }) > Self.others {
            removeOfMostFrequent(but: account)
        }
        return true
    }

    /// Removes the oldest entries that satisfy a condition until only `most` are left.
    private mutating func trim(to most: Int, _ isMeant: (Refusal) -> Bool) {
        while refusals.count(where: isMeant) > most, let index = refusals.firstIndex(where: isMeant)
        {
            refusals.remove(at: index)
        }
    }

    /// Removes the oldest entry of the user with the most entries, apart from the account itself.
    private mutating func removeOfMostFrequent(but account: AccountName) {
        var counts: [AccountName: Int] = [:]
        for refusal in refusals where refusal.requester != account {
            counts[refusal.requester, default: 0] += 1
        }
        let most = counts.values.max() ?? 0
        let oldest = refusals.firstIndex { counts[$0.requester] == most }
        guard let oldest else { return }
        refusals.remove(at: oldest)
    }
}

extension Refusal {
    /// Whether a later attempt shares this entry: everything but the time and the count is equal.
    fileprivate func includes(_ other: Refusal) -> Bool {
        verb == other.verb && service == other.service && terminal == other.terminal
            && requester == other.requester && reason == other.reason
            && other.since >= since && other.since - since < RefusalList.span
    }
}

extension RefusalList: LineRecord {
    static let cap = 256 * 1_024

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-refusals", number: 1)
        lines.put("refusals", number: UInt64(refusals.count))
        for refusal in refusals {
            lines.put("verb", number: UInt64(refusal.verb.rawValue))
            lines.put("service", name: refusal.service)
            lines.put("terminal", refusal.terminal)
            lines.put("requester", name: refusal.requester)
            lines.put("reason", number: UInt64(refusal.reason.rawValue))
            lines.put("count", number: UInt64(refusal.count))
            lines.put("since", number: refusal.since)
            lines.put("until", number: refusal.until)
        }
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-refusals")
        let count = try lines.number("refusals")
        guard count <= Self.own + Self.others else { throw .tooLong }
        for _ in 0..<count { refusals.append(try Refusal(parsing: &lines)) }
    }
}

extension Refusal {
    fileprivate init(parsing lines: inout LineReader) throws(LineFault) {
        let verb = UInt8(exactly: try lines.number("verb")).flatMap(Verb.init)
        let service: ServiceName = try lines.name("service", cap: Limit.service)
        let terminal = try lines.value("terminal", cap: Limit.label)
        let requester: AccountName = try lines.name("requester", cap: Limit.account)
        let reason = UInt8(exactly: try lines.number("reason")).flatMap(DenialReason.init)
        let count = UInt32(exactly: try lines.number("count"))
        let since = try lines.number("since")
        let until = try lines.number("until")
        guard let verb, let reason, let count, count > 0, since <= until else { throw .malformed }
        self.init(
            verb, service: service, terminal: terminal, requester: requester, reason: reason,
            count: count, since: since, until: until)
    }
}

/// Stores an account's denied attempts.
///
/// They inform the user and decide nothing. A missing file therefore counts as empty, and an
/// unreadable one may be overwritten.
package struct RefusalStore: Sendable {
    let directory: Directory

    /// Returns the stored list.
    ///
    /// Throws if the file exists and cannot be read.
    package func load() throws(StoreFault) -> RefusalList {
        try directory.record(Self.name) ?? RefusalList()
    }

    /// Stores the list durably.
    package func save(_ list: RefusalList) throws(StoreFault) {
        try directory.keep(list, as: Self.name)
    }

    static let name = "refusals"
}
