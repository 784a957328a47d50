// SPDX-License-Identifier: Apache-2.0
/// One entry in a chain: a module with its control, as libpam would call it.
struct Handler: Equatable {
    /// What libpam calls.
    enum Call: Equatable {
        case module(path: String, options: [String])
        /// The start of a substack. It is not called, but jumps count it.
        case substack
        /// A line that cannot be read, or a missing include: it always fails.
        case mustFail
    }

    let call: Call
    let control: Control
    /// The nesting depth of substacks.
    let level: Int
    /// The file in which it is written.
    let file: String
    let line: Int
    let isSilent: Bool
    /// The module's name without directory and suffix, such as `pam_unix`; empty if it is not a
    /// module.
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

/// Problems with a service's files, independent of what the modules decide.
enum StackTrouble: Equatable {
    /// libpam cannot parse the line.
    case broken(file: String, line: Int)
    /// libpam cannot parse the brackets of the line.
    case control(file: String, line: Int)
    /// An included file does not exist.
    case missing(file: String, line: Int, name: String)
    /// Files include each other, or more deeply than libpam follows.
    case loop(file: String, line: Int, name: String)
    /// A line is longer than libpam accepts.
    case overlong(file: String, line: Int)
}

/// All entries of one type in a service's stack: its own file and everything it includes.
///
/// The order is that in which libpam calls the modules. "Place" means the index of an entry in
/// `handlers` here and in what follows.
struct Chain: Equatable {
    fileprivate(set) var handlers: [Handler] = []
    fileprivate(set) var troubles: [StackTrouble] = []
    /// Whether libpam refuses the whole service, so that no one can authenticate.
    fileprivate(set) var isAborted = false
    /// The names of the files that it consists of.
    fileprivate(set) var files: Set<String> = []
    /// The number of files read for it; a file counts each time it is included.
    fileprivate var visits = 0
}

/// All PAM configuration files by name, parsed once.
struct StackFiles {
    /// The administrator's directory.
    static let directory = "/etc/pam.d"

    private let files: [String: StackFile]
    /// The directories of those files that are elsewhere, by name.
    private let elsewhere: [String: String]

    /// libpam's PAM_SUBSTACK_MAX_LEVEL.
    private static let deepest = 16
    /// Limits, because files that include each other many times grow without a loop, even when
    /// empty.
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

    /// The names of the files, sorted.
    var names: [String] { files.keys.sorted() }

    /// The file of a name or path.
    subscript(name: String) -> StackFile? { files[StackFiles.key(name)] }

    /// The path of a file.
    func path(of name: String) -> String {
        name.hasPrefix("/") ? name : "\(elsewhere[name] ?? StackFiles.directory)/\(name)"
    }

    /// A place, `file` or `file:line`, for display: with its directory unless that is /etc/pam.d.
    func shown(_ place: String) -> String {
        let name = place.lastIndex(of: ":").map { String(place[..<$0]) }
        let directory = elsewhere[place] ?? name.flatMap { elsewhere[$0] }
        return directory.map { "\($0)/\(place)" } ?? place
    }

    /// The entries of one type that libpam calls for a service.
    ///
    /// As in libpam, a service without any line of that type uses those of `other`.
    func chain(of service: String, _ type: StackType) -> Chain {
        var chain = Chain()
        collect(service, type, depth: 0, level: 0, &chain)
        guard chain.handlers.isEmpty, !chain.isAborted, service != "other", files["other"] != nil
        else { return chain }
        return self.chain(of: "other", type)
    }

    /// The files that another file includes.
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

    /// Adds the lines of a file, and of everything that it includes, to the chain.
    ///
    /// - Parameters:
    ///   - depth: How many files include this one.
    ///   - level: How many substacks contain it.
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
            // One line adds at most two entries.
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
            // Without a type, libpam has no stack to add the failure to, and gives up.
            if line.type == nil { chain.isAborted = true }
        }
    }

    /// The file name of an include, which may give a full path below a PAM directory.
    private static func key(_ name: String) -> String {
        for directory in ["/etc/pam.d/", "/usr/lib/pam.d/"] where name.hasPrefix(directory) {
            return String(name.dropFirst(directory.count))
        }
        return name
    }
}
