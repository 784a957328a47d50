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
    func using(_ module: String) -> [String] {
        var users = Set(stacks.filter { $0.value.modules.contains(module) }.keys)
        var included: Set<String> = []
        var grew = true
        while grew {
            let more = stacks.filter { !$0.value.includes.isDisjoint(with: users) }.keys
            included.formUnion(
                users.filter { user in
                    stacks.values.contains { $0.includes.contains(user) }
                })
            grew = !users.isSuperset(of: more)
            users.formUnion(more)
        }
        // A file that is there to be included is no service.
        let services = users.subtracting(included)
        return (services.isEmpty ? users : services).sorted()
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
