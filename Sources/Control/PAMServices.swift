import Posix

/// Which services' stacks of PAM modules name a module; pam.d(5). Only looks.
struct PAMServices {
    /// The module's name in each service's own file, and what that file includes.
    private struct Stack {
        var modules: Set<String> = []
        var includes: Set<String> = []
    }

    private var stacks: [String: Stack] = [:]

    private static let maximumLength = 65_536

    /// Reads the directory; what cannot be read or trusted is left out.
    init(directory path: String) {
        guard let directory = try? Directory.open(path), let names = try? directory.list() else {
            return
        }
        for name in names {
            let cap = PAMServices.maximumLength
            guard let found = try? directory.read(name, cap: cap, isPrivate: false) else {
                continue
            }
            stacks[name] = PAMServices.stack(String(decoding: found, as: UTF8.self))
        }
    }

    /// The services that use a module, themselves or by what they include; sorted.
    ///
    /// Debian's `common-…` are no services: they are there to be included.
    func using(_ module: String) -> [String] {
        var users = Set(stacks.filter { $0.value.modules.contains(module) }.keys)
        while true {
            let more = stacks.filter { !$0.value.includes.isDisjoint(with: users) }.keys
            if users.isSuperset(of: more) { break }
            users.formUnion(more)
        }
        return users.filter { !$0.hasPrefix("common-") }.sorted()
    }

    private static func stack(_ text: String) -> Stack {
        var stack = Stack()
        for line in text.utf8.split(separator: 10) {
            let words = String(Substring(line)).split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            if first == "@include", words.count > 1 {
                stack.includes.insert(String(words[1]))
            } else if words.count > 2, words[1] == "include" || words[1] == "substack" {
                stack.includes.insert(String(words[2]))
            }
            for word in words.dropFirst() {
                stack.modules.insert(String(word.split(separator: "/").last ?? word))
                if word.hasSuffix(".so") { break }
            }
        }
        return stack
    }
}
