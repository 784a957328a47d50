/// What a login costs on a machine that has been in use for long, beside a new one.
struct GrowthSection {
    let workshop: Workshop
    private let runs = 30

    init(workshop: Workshop) {
        self.workshop = workshop
    }

    /// Sets up a machine for each size, logs in on them in turn, and prints the table.
    func run() throws {
        print("one login, pam_authenticate to prompt and touch to PAM_SUCCESS together; aim ≤ 1.1×")
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
        if added > 0 { try site.populate(kind, added) }
        // The first login after a start warms everything up.
        for _ in 0..<3 { _ = try site.login() }
        return site
    }

    private func table(_ what: String, _ sites: [(name: String, site: LoginSite)]) throws {
        var whole = sites.map { _ in Samples() }
        var touches = sites.map { _ in Samples() }
        // In turn, and the first not always first: what else the machine does meets all alike.
        for run in 0..<runs {
            for index in sites.indices {
                let index = (index + run) % sites.count
                let login = try sites[index].site.login()
                whole[index].take { login.toPrompt + login.fromTouch }
                touches[index].take { login.fromTouch }
            }
        }
        print("| \(what) | login | to 1 | from the touch on | to 1 |")
        print("|---|---|---|---|---|")
        for (index, entry) in sites.enumerated() {
            let cells = [
                entry.name, whole[index].text(.milliseconds), whole[index].ratio(to: whole[0]),
                touches[index].text(.milliseconds), touches[index].ratio(to: touches[0]),
            ]
            print("| \(cells.joined(separator: " | ")) |")
        }
    }
}
