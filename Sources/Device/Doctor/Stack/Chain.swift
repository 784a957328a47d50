// SPDX-License-Identifier: Apache-2.0
/// A place in the PAM configuration: a file, or a line in it.
struct StackPosition: Hashable {
    /// The file's name, which services and includes refer to.
    let file: String
    /// The number of the line, counted from 1; nil for the whole file.
    var line: Int?
    /// The directory that contains the file.
    var directory = StackFiles.directory

    var path: String { file.hasPrefix("/") ? file : "\(directory)/\(file)" }

    /// The place without its line.
    var whole: StackPosition { StackPosition(file: file, directory: directory) }

    /// The text for display, `file:line`, with the directory unless that is /etc/pam.d.
    var shown: String {
        let name = directory == StackFiles.directory ? file : path
        return line.map { "\(name):\($0)" } ?? name
    }
}

/// One entry in a chain: a module with its control, as libpam would call it.
struct Handler: Equatable {
    /// The kind of thing that libpam calls.
    enum Call: Equatable {
        case module
        /// The start of a substack; it is not called, but jumps count it.
        case substack
        /// A line that cannot be parsed, or an include of a missing file; it always fails.
        case mustFail
    }

    let call: Call
    let control: Control
    /// The nesting depth of substacks, 0 outside of any.
    let level: Int
    /// The line that it comes from.
    let place: StackPosition
    /// The module's path as written in the line; empty if the entry is not a module.
    let path: String
    /// The module's name without directory and suffix, such as `pam_unix`; empty if the entry is
    /// not a module.
    let module: String
    let options: [String]
    /// The role of the module in authentication.
    let role: ModuleRole

    /// Creates the entry of a module.
    ///
    /// - Parameter isSignet: Whether the file is Signet's module, whatever its name is.
    init(
        module path: String, options: [String], control: Control, level: Int,
        place: StackPosition, isSignet: Bool = false
    ) {
        call = .module
        self.control = control
        self.level = level
        self.place = place
        self.path = path
        let name = path.split(separator: "/").last.map(String.init) ?? path
        module = name.hasSuffix(".so") ? String(name.dropLast(3)) : name
        self.options = options
        role = isSignet ? .signet : ModuleRole(module, options: options)
    }

    /// Creates an entry that is not a module.
    init(_ call: Call, control: Control = .refused, level: Int, place: StackPosition) {
        self.call = call
        self.control = control
        self.level = level
        self.place = place
        (path, module, options, role) = ("", "", [], .unknown)
    }
}

/// A problem with a service's files that does not depend on what the modules decide.
enum StackTrouble: Equatable {
    /// libpam cannot parse the line, or it is longer than libpam accepts.
    case broken(StackPosition)
    /// An included file does not exist.
    case missing(StackPosition, name: String)
    /// Files include each other, or are nested more deeply than libpam follows.
    case loop(StackPosition, name: String)
    /// libpam gives up at this line, and rejects the whole file.
    case cut(StackPosition)
    /// A word of the line contains a carriage return, usually of a line end of Windows.
    case carriageReturn(StackPosition)
}

/// All entries of one type in a service's stack, from its own file and everything that it includes.
///
/// They are in the order in which libpam calls the modules.
struct Chain: Equatable {
    fileprivate(set) var handlers: [Handler] = []
    fileprivate(set) var troubles: [StackTrouble] = []
    /// Whether libpam rejects the whole service, so that no user can authenticate.
    fileprivate(set) var isAborted = false
    /// The names of the files that the chain consists of.
    fileprivate(set) var files: Set<String> = []
    /// The number of files read for it; a file counts each time that it is included.
    fileprivate var visits = 0
}

/// All files of the PAM configuration by name, parsed once.
///
/// `chain(of:type:)` assembles a service's stack as libpam does (pam.d(5), `pam_handlers.c`). It
/// terminates for any files, because depth, entries and inclusions are limited.
struct StackFiles {
    /// The administrator's directory.
    static let directory = "/etc/pam.d"

    private let files: [String: StackFile]
    /// The directories of those files that are not in /etc/pam.d, by name.
    private let elsewhere: [String: String]
    /// Whether a module is Signet's own build under fprintd's name, by its path in a stack.
    private let isReplaced: (String) -> Bool

    /// libpam's PAM_SUBSTACK_MAX_LEVEL.
    private static let deepest = 16
    /// Limits on entries and inclusions, because files that include each other many times grow
    /// without a loop, even if they are empty.
    private static let mostHandlers = 2_048
    private static let mostVisits = 2_048

    /// Reads a file that a stack names by a path, or that is in no list of services.
    private let load: (String) -> [UInt8]?

    /// Parses all files.
    ///
    /// - Parameter isReplaced: Whether the pam_fprintd that a stack names by this path is Signet's
    ///   own. Only its contents tell.
    init(
        _ files: [String: [UInt8]], elsewhere: [String: String] = [:],
        isReplaced: @escaping (String) -> Bool = { _ in false },
        load: @escaping (String) -> [UInt8]? = { _ in nil }
    ) {
        self.load = load
        self.files = files.mapValues(StackFile.init)
        self.elsewhere = elsewhere
        self.isReplaced = isReplaced
    }

    /// The names of the files, sorted.
    var names: [String] { files.keys.sorted() }

    /// The file of a name or path.
    subscript(name: String) -> StackFile? { file(StackFiles.key(name)) }

    /// The place of a file, or of a line in it.
    func place(of name: String, line: Int? = nil) -> StackPosition {
        StackPosition(file: name, line: line, directory: elsewhere[name] ?? StackFiles.directory)
    }

    /// The entries of one type that libpam calls for a service.
    ///
    /// As in libpam, a service without any line of that type uses those of `other`, and a service
    /// is rejected if `other` is.
    func chain(of service: String, type: StackType) -> Chain {
        var chain = Chain()
        collect(service, type: type, requested: nil, depth: 0, level: 0, chain: &chain)
        guard service != "other", files["other"] != nil, !chain.isAborted else { return chain }
        let others = self.chain(of: "other", type: type)
        if others.isAborted {
            chain.isAborted = true
            chain.troubles += others.troubles
        }
        return chain.handlers.isEmpty ? others : chain
    }

    /// Adds the lines of a file, and of everything that it includes, to the chain.
    ///
    /// - Parameters:
    ///   - requested: The type that the include asks for; nil for all types.
    ///   - depth: How many files include this one.
    ///   - level: How many substacks contain it.
    /// - Returns: Whether libpam reads the file to its end.
    @discardableResult
    private func collect(
        _ name: String, type: StackType, requested: StackType?, depth: Int, level: Int,
        chain: inout Chain
    ) -> Bool {
        let name = StackFiles.key(name)
        guard let file = file(name) else { return false }
        chain.files.insert(name)
        chain.visits += 1
        // libpam takes a line of an unknown type for one of the requested type, or else for the
        // most sensitive one.
        for line in file.lines
        where (line.isOfUnknownType ? requested ?? .auth : line.type ?? type) == type {
            // One line adds at most two entries.
            guard chain.handlers.count + 1 < StackFiles.mostHandlers else { return true }
            add(
                line, of: name, type: type, requested: requested, depth: depth, level: level,
                chain: &chain)
        }
        guard let cut = file.cut else { return true }
        chain.troubles.append(.cut(place(of: name, line: cut)))
        if depth == 0 { chain.isAborted = true }
        return false
    }

    private func add(
        _ line: StackLine, of file: String, type: StackType, requested: StackType?, depth: Int,
        level: Int, chain: inout Chain
    ) {
        let place = place(of: file, line: line.number)
        func append(_ call: Handler.Call) {
            chain.handlers.append(Handler(call, level: level, place: place))
        }
        if line.hasReturn { chain.troubles.append(.carriageReturn(place)) }
        let isForAll = line.type == nil && !line.isOfUnknownType
        let asked = isForAll ? requested : type
        switch line.content {
        case .module(let control, let path, let options):
            if !control.isUnderstood { chain.troubles.append(.broken(place)) }
            chain.handlers.append(
                Handler(
                    module: path, options: options, control: control, level: level, place: place,
                    isSignet: path.isNameOfFprintd && isReplaced(path)))
        case .broken(let control):
            chain.troubles.append(.broken(place))
            chain.handlers.append(
                Handler(.mustFail, control: control, level: level, place: place))
        case .nameless:
            chain.troubles.append(.broken(place))
            chain.isAborted = true
        case .include(let name), .substack(let name):
            var inner = level
            if case .substack = line.content {
                append(.substack)
                inner += 1
            }
            if self.file(StackFiles.key(name)) == nil {
                report(.missing(place, name: name), in: &chain)
            } else if depth + 1 >= StackFiles.deepest || chain.visits >= StackFiles.mostVisits {
                report(.loop(place, name: name), in: &chain)
                // Before 1.6, libpam follows files that include each other until the program ends.
                chain.isAborted = true
            } else if collect(
                name, type: type, requested: asked, depth: depth + 1,
                level: inner, chain: &chain)
            {
                return
            }
            append(.mustFail)
            // Without a type, libpam has no stack to add the failure to, and rejects the whole
            // service.
            if asked == nil { chain.isAborted = true }
        }
    }

    private func report(_ trouble: StackTrouble, in chain: inout Chain) {
        if !chain.troubles.contains(trouble) { chain.troubles.append(trouble) }
    }

    private func file(_ name: String) -> StackFile? {
        files[name] ?? load(name).map(StackFile.init)
    }

    /// The file name of an include, which may give a full path below a PAM directory.
    private static func key(_ name: String) -> String {
        for directory in ["/etc/pam.d/", "/usr/lib/pam.d/"] where name.hasPrefix(directory) {
            return String(name.dropFirst(directory.count))
        }
        return name
    }
}

extension String {
    /// Whether a module's path names pam_fprintd.
    fileprivate var isNameOfFprintd: Bool {
        let name = split(separator: "/").last ?? ""
        return name == "pam_fprintd.so" || name == "pam_fprintd"
    }
}
