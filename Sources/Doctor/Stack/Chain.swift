// SPDX-License-Identifier: Apache-2.0
/// A module in its place among all that a service asks.
struct Handler: Equatable {
    /// How it is called.
    enum Call: Equatable {
        case module(path: String, options: [String])
        /// The head of a substack: passed over, but jumps count it.
        case substack
        /// A line that cannot be read: it fails, always.
        case mustFail
    }

    let call: Call
    let control: Control
    /// How deep in substacks.
    let level: Int
    /// Where it is written.
    let file: String
    let line: Int
    let isSilent: Bool
    /// The module's name without directory and ending, `pam_unix`; empty if it is none.
    let module: String
    let options: [String]
    /// What the module does.
    let role: ModuleRole

    init(
        _ call: Call, _ control: Control, level: Int, file: String, line: Int, isSilent: Bool
    ) {
        self.call = call
        self.control = control
        self.level = level
        self.file = file
        self.line = line
        self.isSilent = isSilent
        guard case .module(let path, let options) = call else {
            (module, self.options, role) = ("", [], .unknown)
            return
        }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        module = name.hasSuffix(".so") ? String(name.dropLast(3)) : name
        self.options = options
        role = ModuleRole(module, options: options)
    }
}

/// What is wrong with the files of a service, apart from what its modules decide.
enum StackTrouble: Equatable {
    /// libpam cannot read the line.
    case broken(file: String, line: Int)
    /// The brackets of a line cannot be read.
    case control(file: String, line: Int)
    /// An included file is not there.
    case missing(file: String, line: Int, name: String)
    /// Files include each other, or deeper than libpam follows.
    case loop(file: String, line: Int, name: String)
    /// A line is longer than libpam takes.
    case overlong(file: String, line: Int)
}

/// What a service asks for one type: its own file and all that this includes.
struct Chain: Equatable {
    fileprivate(set) var handlers: [Handler] = []
    fileprivate(set) var troubles: [StackTrouble] = []
    /// Whether libpam gives up on the whole service: nobody gets in.
    fileprivate(set) var isAborted = false
    /// The files that it is made of.
    fileprivate(set) var files: Set<String> = []
    /// How many files were read for it, each as often as it is included.
    fileprivate var visits = 0
}

/// All files of /etc/pam.d by name, read once.
struct StackFiles {
    /// Where an administrator writes them.
    static let directory = "/etc/pam.d"

    private let files: [String: StackFile]
    /// The directories of those that are not there.
    private let elsewhere: [String: String]

    /// libpam's PAM_SUBSTACK_MAX_LEVEL.
    private static let deepest = 16
    /// Files that include each other many times over grow without a loop, even if they are empty.
    private static let mostHandlers = 2_048
    private static let mostVisits = 2_048

    init(_ files: [String: [UInt8]], elsewhere: [String: String] = [:]) {
        self.files = files.mapValues(StackFile.init)
        self.elsewhere = elsewhere
    }

    init(parsed files: [String: StackFile]) {
        self.files = files
        elsewhere = [:]
    }

    /// The names of the files.
    var names: [String] { files.keys.sorted() }

    /// The file of a name.
    subscript(name: String) -> StackFile? { files[StackFiles.key(name)] }

    /// The path of a file.
    func path(of name: String) -> String {
        name.hasPrefix("/") ? name : "\(elsewhere[name] ?? StackFiles.directory)/\(name)"
    }

    /// A file, or a file and line, as it is told: in full where it is not in /etc/pam.d.
    func shown(_ place: String) -> String {
        let name = place.lastIndex(of: ":").map { String(place[..<$0]) }
        let directory = elsewhere[place] ?? name.flatMap { elsewhere[$0] }
        return directory.map { "\($0)/\(place)" } ?? place
    }

    /// What a service asks for a type. One without a line of that type asks what `other` does.
    func chain(of service: String, _ type: StackType) -> Chain {
        var chain = Chain()
        collect(service, type, depth: 0, level: 0, &chain)
        guard chain.handlers.isEmpty, !chain.isAborted, service != "other", files["other"] != nil
        else { return chain }
        return self.chain(of: "other", type)
    }

    /// The files whose name another file includes.
    var included: Set<String> {
        var found: Set<String> = []
        for file in files.values {
            for line in file.lines {
                switch line.content {
                case .include(let name), .substack(let name): found.insert(StackFiles.key(name))
                case .module, .broken: continue
                }
            }
        }
        return found
    }

    private func collect(
        _ name: String, _ type: StackType, depth: Int, level: Int, _ chain: inout Chain
    ) {
        let name = StackFiles.key(name)
        guard let file = files[name] else { return }
        chain.files.insert(name)
        chain.visits += 1
        if let line = file.overlong {
            chain.troubles.append(.overlong(file: name, line: line))
            chain.isAborted = true
        }
        for line in file.lines where line.type == type || line.type == nil {
            // One line makes two at the most.
            guard chain.handlers.count + 1 < StackFiles.mostHandlers else { return }
            add(line, of: name, type, depth: depth, level: level, &chain)
        }
    }

    private func add(
        _ line: StackLine, of file: String, _ type: StackType, depth: Int, level: Int,
        _ chain: inout Chain
    ) {
        func handler(_ call: Handler.Call, _ control: Control) -> Handler {
            Handler(
                call, control, level: level, file: file, line: line.number,
                isSilent: line.isSilent)
        }
        switch line.content {
        case .module(let control, let path, let options):
            if !control.isUnderstood {
                chain.troubles.append(.control(file: file, line: line.number))
            }
            chain.handlers.append(handler(.module(path: path, options: options), control))
        case .broken:
            chain.troubles.append(.broken(file: file, line: line.number))
            chain.handlers.append(handler(.mustFail, .refused))
        case .include(let name), .substack(let name):
            var inner = level
            if case .substack = line.content {
                chain.handlers.append(handler(.substack, .refused))
                inner += 1
            }
            let problem: StackTrouble?
            if files[StackFiles.key(name)] == nil {
                problem = .missing(file: file, line: line.number, name: name)
            } else if depth + 1 >= StackFiles.deepest || chain.visits >= StackFiles.mostVisits {
                problem = .loop(file: file, line: line.number, name: name)
            } else {
                problem = nil
            }
            guard let problem else {
                collect(name, type, depth: depth + 1, level: inner, &chain)
                return
            }
            if !chain.troubles.contains(problem) { chain.troubles.append(problem) }
            chain.handlers.append(handler(.mustFail, .refused))
            // Without a type libpam has no stack to put the failure into, and gives up.
            if line.type == nil { chain.isAborted = true }
        }
    }

    /// The name below /etc/pam.d of a path that an include gives in full.
    private static func key(_ name: String) -> String {
        for directory in ["/etc/pam.d/", "/usr/lib/pam.d/"] where name.hasPrefix(directory) {
            return String(name.dropFirst(directory.count))
        }
        return name
    }
}
