// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// What the pages say of texts, held against the texts in the sources.
@Suite("The diagnostics of the manual pages")
struct ManualTextTests {
    /// What a person may be told: everything but help and headings.
    private static let told = [
        "Shared/LoginMessages/DenialText.swift", "Shared/LoginMessages/NoticeText.swift",
        "Device/CommandMessages/CommandDenialText.swift",
        "Device/CommandMessages/CommandText.swift", "Device/ArgumentSyntax/UsageFault.swift",
        "Device/CommandMessages/CommandSecrets.swift", "Device/CommandMessages/CommandLog.swift",
        "Device/CommandMessages/CommandOutcome.swift", "Device/CommandMessages/CommandStatus.swift",
    ]

    @Test("have every text that a person may be told", arguments: ManualTextTests.told)
    func complete(file: String) throws {
        let items = try (diagnostics("signet.1") + diagnostics("pam_signet.8")).flatMap(forms)
        let texts = try TextLiteral.all(in: file).filter(\.isWhole)
        #expect(!texts.isEmpty)
        for text in texts {
            #expect(items.contains { text.isPart(of: $0) }, "'\(text)' is in no page")
        }
    }

    @Test("have none that is not told", arguments: ["signet.1", "pam_signet.8"])
    func sound(page: String) throws {
        let texts = try [
            "Shared/LoginMessages", "Device/CommandMessages", "Device/ArgumentSyntax",
        ].flatMap { directory in
            Layout.entries(of: "\(Layout.package)/Sources/\(directory)")
                .filter { $0.hasSuffix(".swift") }.map { "\(directory)/\($0)" }
        }.flatMap { try TextLiteral.all(in: $0) }.filter { $0.size >= 6 }
        let items = try diagnostics(page)
        #expect(items.count > 10)
        for item in items {
            #expect(texts.contains { $0.makes(item) }, "nobody is told '\(item)'")
        }
        #expect(Set(items).count == items.count)
    }

    @Test("of the configuration have every fault of a file, and no other")
    func configuration() throws {
        let texts = try TextLiteral.all(in: "Device/Configuration/Configuration.swift")
        let items = try diagnostics("signet.conf.5")
        for text in texts where text.isWhole {
            #expect(items.contains { text.isPart(of: $0) }, "'\(text)' is not in the page")
        }
        for item in items {
            #expect(texts.contains { $0.size >= 6 && $0.makes(item) }, "nobody says '\(item)'")
        }
    }

    /// A text of a page, also as it is told where nothing is known to fill in.
    private func forms(of item: String) -> [String] {
        [
            item, item.replacing(#/(: | by | on | since )(WHY|WHO|DATE)/#, with: ""),
            item.replacing("NUMBER s", with: "a moment"),
        ]
    }

    private func diagnostics(_ page: String) throws -> [String] {
        try ManualPage(page).items("DIAGNOSTICS").map { $0.head.joined(separator: " ") }
    }
}

extension TextLiteral {
    /// Whether it is more than a word or what stands for a name, and not merely the singular of one.
    fileprivate var isWhole: Bool {
        size >= 8 && !description.hasPrefix("1 ") && description != "with this name"
    }
}
