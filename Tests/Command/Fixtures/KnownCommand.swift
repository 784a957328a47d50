// SPDX-License-Identifier: Apache-2.0
import Testing

/// A command of the program, as it says itself: what pages and completions are held against.
struct KnownCommand {
    let name: String
    let options: Set<String>

    var words: [String] { name.split(separator: " ").map(String.init) }

    /// All that there are, in the order of `signet help`.
    static func all() throws -> [KnownCommand] {
        let names = try #require(
            try signet(["help", "--json"]).document("help")["commands"] as? [String])
        return try names.map { name in
            let words = name.split(separator: " ").map(String.init)
            let document = try signet(["help"] + words + ["--json"]).document("help")
            let options = try #require(document["options"] as? [String])
            return KnownCommand(name: name, options: Set(options))
        }
    }
}
