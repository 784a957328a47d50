// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a login costs on a machine that has been in use for long, beside a new one.
struct GrowthSection {
    let workshop: Workshop
    private let runs = 30

    init(workshop: Workshop) {
        self.workshop = workshop
    }

    /// Sets up a machine for each size, logs in on them in turn, and prints the table.
    func run() throws {
        print(
            """
            one login: pam_authenticate to prompt and touch to PAM_SUCCESS together; aim ≤ 1.1×.
            The daemon's work is the time that its threads ran, also after the answer.
            """)
        print()
        try table(
            "receipts",
            [("1", 0), ("100", 99), ("10,000", 9_999)].map { name, added in
                (name, try site(.receipts, added))
            })
        print()
        try table(
            "accounts",
            [("1", 0), ("100", 99), ("1,000", 999)].map { name, added in
                (name, try site(.accounts, added))
            })
    }

    private func site(_ kind: Population.Kind, _ added: Int) throws -> LoginSite {
        let site = try LoginSite(workshop, .file)
        _ = try site.login()
        // Where nothing is added too: every daemon has been started anew.
        try site.populate(kind, added)
        // The first login after a start warms everything up.
        for _ in 0..<3 { _ = try site.login() }
        return site
    }

    /// What logins at one site came to.
    private struct Column {
        private(set) var whole = Samples()
        private(set) var touches = Samples()
        private(set) var work = Samples()
        /// What its daemon had worked before the last login.
        private var before: Double?

        /// Logs in once more. The work of the login before is read only now: since then another
        /// site had its login, so what is written after an answer has long been written.
        mutating func take(from site: LoginSite) throws {
            let now = try site.work()
            if let before { work.take { now - before } }
            before = now
            let login = try site.login()
            whole.take { login.toPrompt + login.fromTouch }
            touches.take { login.fromTouch }
        }
    }

    private func table(_ what: String, _ sites: [(name: String, site: LoginSite)]) throws {
        var columns = sites.map { _ in Column() }
        // In turn, and the first not always first: what else the machine does meets all alike. At
        // least one other always comes between two turns of one. The last turn ends what was begun.
        for run in 0...runs {
            for index in sites.indices {
                let index = (index + run) % sites.count
                try columns[index].take(from: sites[index].site)
            }
        }
        print("| \(what) | login | to 1 | from the touch on | to 1 | daemon's work | to 1 |")
        print("|---|---|---|---|---|---|---|")
        for (entry, column) in zip(sites, columns) {
            let pairs = [
                (column.whole, columns[0].whole), (column.touches, columns[0].touches),
                (column.work, columns[0].work),
            ]
            let cells = pairs.flatMap { [$0.text(.milliseconds), $0.ratio(to: $1)] }
            print("| \(([entry.name] + cells).joined(separator: " | ")) |")
        }
    }
}
