// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// Every target: Swift 6, warnings are errors, strict memory safety.
///
/// The disabled pass drops initialising stores of array literals when optimising
/// (swiftlang/swift#77558); without it a buffer may be read before it was written.
let common: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .unsafeFlags(["-Xllvm", "-sil-disable-pass=dead-store-elimination"]),
]

/// The PAM module is loaded into other people's processes: no runtime, no threads, no handlers.
let embedded: [SwiftSetting] =
    common + [
        .enableExperimentalFeature("Embedded"),
        // Functions that nothing calls are left out by the linker.
        .unsafeFlags(["-Osize", "-no-static-stdlib", "-Xfrontend", "-function-sections"]),
        // No copies of a function for the closures that it is called with.
        .unsafeFlags(["-Xllvm", "-sil-disable-pass=closure-specialize"]),
        // No hash of each source file in the module; it only spares the compiler work.
        .unsafeFlags(["-Xfrontend", "-disable-incremental-llvm-codegen"]),
    ]

/// What is installed: pages that are the same in every process stay read-only, nothing that the
/// linker knows is looked up later, and what nothing calls is left out.
let installed: [LinkerSetting] = [
    .unsafeFlags([
        "-use-ld=lld", "-Xlinker", "-zrelro", "-Xlinker", "-znow",
        "-Xlinker", "-zpack-relative-relocs", "-Xlinker", "--gc-sections",
    ])
]

/// The rows of a table of targets: a name with a colon, and what it depends on, which may go on in
/// lines of its own. A line with # says what the next one is.
func rows(_ table: String) -> [(name: String, needs: [String])] {
    var rows: [(name: String, needs: [String])] = []
    for line in table.split(separator: "\n") where !line.hasPrefix("#") {
        for word in line.split(separator: " ") {
            if word.hasSuffix(":") {
                rows.append((String(word.dropLast()), []))
            } else {
                rows[rows.count - 1].needs.append(String(word))
            }
        }
    }
    return rows
}

/// Dependencies on these targets.
func on(_ names: [String]) -> [Target.Dependency] { names.map { .byName(name: $0) } }

/// The targets of a table, each in the directory of its name, or in that which `others` says.
func libraries(
    in directory: String, others: [String: String] = [:], _ table: String,
    settings: [SwiftSetting] = common
) -> [Target] {
    // For which sources are written when they are compiled: lists of commands and requests, messages.
    let listed: Set = [
        "Command", "CommandProtocol", "Daemon", "FrameSamples", "ReaderProtocol", "ServerAPI",
    ]
    return rows(table).map {
        .target(
            name: $0.name, dependencies: on($0.needs),
            path: others[$0.name] ?? "\(directory)/\($0.name)",
            swiftSettings: settings, plugins: listed.contains($0.name) ? ["Listing"] : nil)
    }
}

/// The programs of a table, each in the directory of its name, or in that which `others` says.
func programs(
    in directory: String = "", others: [String: String] = [:], _ table: String,
    linker: [LinkerSetting] = []
) -> [Target] {
    rows(table).map {
        .executableTarget(
            name: $0.name, dependencies: on($0.needs),
            path: others[$0.name] ?? "\(directory)/\($0.name)",
            swiftSettings: common, linkerSettings: linker)
    }
}

/// The tests of a table, each in the directory of what it tests: they may import that, what it
/// imports, and TestSupport, so that a row says only what they need beyond that.
func tests(of targets: [Target], _ table: String) -> [Target] {
    let others = ["Fingerprints": "Tests/FingerprintsTests", "Support": "Tests/SupportTests"]
    let excluded = [
        "OtherDebian": ["root", "run"], "RelyingParty": ["Fixtures/Judges"],
        "Site": ["Fixtures/browser.py"],
    ]
    return rows(table).map { row in
        let tested = targets.filter { $0.name == row.name }
        let imported = tested.flatMap(\.dependencies).compactMap { dependency in
            if case .byNameItem(let name, _) = dependency { name } else { nil }
        }
        let all = Set(tested.map(\.name) + imported + ["TestSupport"] + row.needs)
        return .testTarget(
            name: "\(row.name)Tests", dependencies: on(all.sorted()),
            path: others[row.name] ?? "Tests/\(row.name)", exclude: excluded[row.name] ?? [],
            swiftSettings: common)
    }
}

/// A C library: a module map and a header of includes, nothing else.
func cLibrary(_ name: String, _ package: String? = nil) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: package)
}

/// What the PAM module shares with the other programs, all of it: pure, no C, no system calls.
func shared(_ settings: [SwiftSetting]) -> [Target] {
    libraries(
        in: "Sources/Shared",
        """
        Domain:
        LoginProtocol: Domain
        SignedFormats: Domain
        SSHProtocol: Domain LoginProtocol SignedFormats
        LoginMessages: Domain LoginProtocol SignedFormats SSHProtocol
        ModuleOptions: Domain LoginProtocol SignedFormats
        """, settings: settings)
}

/// How a library that is loaded into other people's processes is linked: it exports what the version
/// script names, needs what is listed and libc, and is bound when it is loaded.
func loaded(exporting script: String, needing libraries: [String] = []) -> [LinkerSetting] {
    libraries.map { .linkedLibrary($0) } + [
        .unsafeFlags([
            "-use-ld=lld",
            "-Xlinker", "--version-script=\(script)",
            "-Xlinker", "--gc-sections", "-Xlinker", "--icf=all",
            "-Xlinker", "-zpack-relative-relocs",
            "-Xlinker", "-zdefs", "-Xlinker", "-zrelro", "-Xlinker", "-znow",
            "-Xlinker", "-znoexecstack",
        ])
    ]
}

/// OpenSSH's security key provider; in the module's mode it is what is installed, elsewhere what is
/// tested.
func sshProvider(_ settings: [SwiftSetting], linker: [LinkerSetting]) -> [Target] {
    [
        cLibrary("CSSHProvider"),
        .target(
            name: "SSHProvider",
            dependencies: [
                "CSSHProvider", "Domain", "LoginMessages", "LoginProtocol", "SSHProtocol",
                "SignedFormats",
            ], path: "Sources/SSHProvider", exclude: ["sk-signet.map"],
            swiftSettings: settings, linkerSettings: linker),
    ]
}

/// The PAM module and OpenSSH's provider alone: they and what they share are compiled as Embedded
/// Swift.
///
/// `edition` says which PAM module this is; each has one file that the other does not have.
func module(_ edition: String) -> Package {
    let (name, other) =
        edition == "fprintd" ? ("pam_fprintd", "Signet") : ("pam_signet", "Fprintd")
    return Package(
        name: "signet",
        products: [
            .library(name: name, type: .dynamic, targets: ["PAMModule"]),
            .library(name: "sk-signet", type: .dynamic, targets: ["SSHProvider"]),
        ],
        targets: shared(embedded)
            + sshProvider(
                embedded, linker: loaded(exporting: "Sources/SSHProvider/sk-signet.map")) + [
                cLibrary("CPAMModule"),
                .target(
                    name: "PAMModule",
                    dependencies: [
                        "CPAMModule", "Domain", "LoginMessages", "LoginProtocol", "ModuleOptions",
                        "SignedFormats",
                    ], path: "Sources/Module",
                    exclude: ["Editions/\(other)Edition.swift", "pam_signet.map"],
                    swiftSettings: embedded,
                    linkerSettings: loaded(
                        exporting: "Sources/Module/pam_signet.map", needing: ["pam"])),
            ]
    )
}

let cTargets: [Target] = [
    cLibrary("CLinux"),
    cLibrary("COpenSSL", "libcrypto"),
    cLibrary("CGLib", "gio-unix-2.0"),
    cLibrary("CFprint", "libfprint-2 gio-unix-2.0 gusb"),
    cLibrary("CPAM"),
    cLibrary("CSystemd", "libsystemd"),
    cLibrary("CTSS", "tss2-esys tss2-sys tss2-tctildr tss2-mu tss2-rc"),
    cLibrary("CMicrohttpd", "libmicrohttpd"),
    cLibrary("CGnuTLS", "gnutls"),
    cLibrary("CSQLite", "sqlite3"),
    cLibrary("CPostgreSQL", "libpq"),
    cLibrary("CCurl", "libcurl"),
    cLibrary("CPAMModule"),
]

let device = libraries(
    in: "Sources/Device",
    """
    # Pure: no C, no system calls.
    CommandProtocol: Domain LoginProtocol SignedFormats SSHProtocol
    # What is said on an ssh agent's socket.
    SSHAgentProtocol: Domain SignedFormats
    # The interface that desktops use: which calls are in order, and what they are told.
    DesktopInterface: CommandProtocol Domain LoginProtocol
    CommandMessages: CommandProtocol Domain LoginMessages LoginProtocol SignedFormats SSHProtocol
    Configuration:
    # What every program is called with: declaration, parser, help.
    ArgumentSyntax: LoginMessages LoginProtocol SignedFormats
    Authorization: Configuration Domain LoginProtocol SignedFormats
    # What signetd and the process of the readers say to each other, and the form of prints.
    ReaderProtocol: CGLib LoginProtocol
    PasswordCheck: ArgumentSyntax CPAM Domain LoginMessages Posix
    Sealing: Crypto Domain Gate Posix SignedFormats TPM TPMStructures
    CatalogueFiles: LoginMessages LoginProtocol Posix
    ConfigurationFiles: Configuration Posix
    # Evidence that a person is there and that a finger matched: what keys open for.
    Gate: Authorization CommandMessages CommandProtocol Configuration Domain LoginMessages
        LoginProtocol MainContext Posix Systemd
    # What is kept on disk.
    State: Authorization CommandProtocol Crypto Domain LoginProtocol Posix Sealing SignedFormats
    # What is wrong with a machine: it only looks.
    Doctor: ArgumentSyntax Authorization CommandMessages CommandProtocol Configuration
        ConfigurationFiles Domain LoginMessages LoginProtocol ModuleOptions Posix SignedFormats
    Daemon: ArgumentSyntax Authorization CommandMessages CommandProtocol Configuration
        ConfigurationFiles Crypto DBus Domain Gate LoginMessages LoginProtocol MainContext
        PasswordCheck Posix ReaderProtocol Sealing SignedFormats SSHProtocol State Systemd
    Command: ArgumentSyntax Authorization CatalogueFiles CommandMessages CommandProtocol
        Configuration ConfigurationFiles Crypto Doctor Domain JSONFormat LoginMessages
        LoginProtocol Posix SignedFormats SSHProtocol
    Notifier: ArgumentSyntax CatalogueFiles CommandMessages CommandProtocol DBus Domain
        LoginMessages LoginProtocol MainContext Posix
    # fprintd's commands, as clients of the bus.
    DesktopClient: DBus DesktopInterface LoginProtocol MainContext
    # What desktops ask on the system bus, as a library.
    DesktopProcess: ArgumentSyntax CommandProtocol DBus DesktopInterface Domain LoginMessages
        LoginProtocol MainContext Posix Systemd
    # What programs ask on an ssh agent's socket, as a library.
    SSHAgentProcess: ArgumentSyntax CommandProtocol Configuration ConfigurationFiles Crypto Domain
        LoginMessages LoginProtocol MainContext Posix SignedFormats SSHAgentProtocol SSHProtocol
        Systemd
    # The only part with libfprint and the readers, as a library.
    ReaderProcess: ArgumentSyntax FingerprintReader LoginMessages MainContext Posix ReaderProtocol
        Systemd
    # The only part of the device with network, as a library.
    Relay: ArgumentSyntax Authorization CommandProtocol Configuration ConfigurationFiles Domain
        HTTPClient JSONFormat LoginMessages LoginProtocol Posix ServerAPI SignedFormats Systemd
    """)

let systemAndServer = libraries(
    in: "Sources/System",
    others: [
        "JSONFormat": "Sources/Shared/JSONFormat", "RelyingParty": "Sources/RelyingParty",
        "ServerAPI": "Sources/Shared/ServerAPI", "Site": "Examples/Site",
    ],
    """
    # One wrapper for each C library.
    Posix: CLinux
    Crypto: COpenSSL Domain Posix SignedFormats
    Systemd: CSystemd Posix
    MainContext: CGLib Posix
    DBus: CGLib MainContext Posix
    FingerprintReader: CFprint LoginProtocol MainContext Posix ReaderProtocol
    # What TPMs write and sign, without one: the server reads it, too.
    TPMStructures: Crypto Posix
    TPM: Crypto CTSS Posix TPMStructures
    HTTPServer: CGnuTLS CMicrohttpd Posix
    HTTPClient: CCurl Posix
    SQL: CPostgreSQL CSQLite Posix
    # The server's API as devices use it: bodies, once, for the server and the relay.
    ServerAPI: Domain SignedFormats
    JSONFormat: SignedFormats
    # The relying party, as a library.
    RelyingParty: ArgumentSyntax Authorization Configuration ConfigurationFiles Crypto Domain
        HTTPClient HTTPServer JSONFormat LoginMessages Posix ServerAPI SignedFormats SQL Systemd
        TPMStructures
    # The documented example of an application's back end, as a library.
    Site: Configuration Crypto HTTPClient HTTPServer JSONFormat Posix SignedFormats
    """)

let products = programs(
    in: "Sources/Programs", others: ["signet-site": "Examples/signet-site"],
    """
    signetd: ArgumentSyntax Configuration Daemon Posix
    signet: Command
    signet-reader: ArgumentSyntax Configuration Posix ReaderProcess
    signet-relay: ArgumentSyntax Configuration Posix Relay
    signet-server: ArgumentSyntax Configuration Posix RelyingParty
    signet-notify: ArgumentSyntax Configuration Notifier Posix
    fprintd-client: DesktopClient
    signet-agent: ArgumentSyntax Configuration Posix SSHAgentProcess
    signet-fprint: ArgumentSyntax Configuration DesktopProcess Posix
    verify-password: Configuration PasswordCheck
    signet-site: Site
    """, linker: installed)

// Tests mirror sources, directory by directory; what the tests of one target share is in its
// Fixtures. Support, StateSupport, Fingerprints and testfixture are shared by tests, demo and
// benchmarks. Scopes is for tests alone.
let testSupport = libraries(
    in: "Tests",
    others: [
        "ModuleVerifier": "Sources/Module/Verification", "TestScopes": "Tests/Scopes",
        "TestSupport": "Tests/Support",
    ],
    """
    FrameSamples: CommandProtocol Domain LoginProtocol SignedFormats SSHProtocol TestSupport
    StateSupport: CommandProtocol Configuration Crypto Domain Gate LoginProtocol MainContext Posix
        Sealing SignedFormats State Systemd
    RelyingPartySupport: Crypto HTTPClient Posix SQL TestSupport
    SQLSupport: SQL TestSupport
    # What is written from the declarations of the programs: `make generated`.
    Generators: ArgumentSyntax LoginMessages
    # The module's verifier alone, for tests: the module is compiled as Embedded Swift.
    ModuleVerifier: CPAMModule Domain LoginProtocol ModuleOptions SignedFormats
    TestScopes:
    TestSupport: CommandProtocol Crypto CTestSupport Domain LoginProtocol Posix SignedFormats
    """)

let testPrograms = programs(
    others: [
        "bench": "Benchmarks/Bench", "database-writer": "Tests/DatabaseWriter",
        "fingerprint-acceptance": "Benchmarks/Acceptance", "generate": "Tests/Generate",
        "testfixture": "Tests/Testfixture", "testreader": "Tests/Testreader",
    ],
    """
    bench: Crypto Domain Gate HTTPServer Posix RelyingParty Sealing SignedFormats SQL State
        StateSupport TestSupport
    database-writer: SQL
    fingerprint-acceptance: CommandProtocol FingerprintReader Fingerprints LoginProtocol MainContext
        ReaderProtocol TestSupport
    generate: ArgumentSyntax Command Daemon DesktopProcess Generators LoginMessages Posix
        ReaderProcess Relay RelyingParty SSHAgentProcess
    testfixture: CommandProtocol CTestSupport Daemon DesktopProcess Fingerprints LoginProtocol Posix
        State TestSupport
    testreader: CTestSupport Posix ReaderProcess
    """)

let testTargets = tests(
    of: shared(common) + sshProvider(common, linker: []) + device + systemAndServer,
    """
    # Those that need no more than what they test.
    Authorization: Configuration: Crypto: DesktopClient: DesktopInterface: Doctor: Gate: JSONFormat:
    MainContext: OtherDebian: Posix: SSHAgentProtocol: SignedFormats: Support: TPM: TPMStructures:
    ArgumentSyntax: Generators generate
    Command: Generators ModuleOptions signet
    CommandProtocol: FrameSamples
    DBus: CTestSupport
    Daemon: Command DesktopInterface DesktopProcess Relay RelyingPartySupport StateSupport TestScopes
        fprintd-client signet-relay signet-server testfixture testreader
    Domain: SignedFormats
    FingerprintReader: CTestSupport CommandProtocol
    Fingerprints: Fingerprints
    HTTPServer: HTTPClient TestScopes
    LoginMessages: ArgumentSyntax CommandMessages CommandProtocol
    LoginProtocol: CommandProtocol FrameSamples
    PAMModule: CommandProtocol Crypto Domain LoginProtocol ModuleOptions ModuleVerifier
        PAMModuleProbe Posix SignedFormats
    PasswordCheck: TestScopes verify-password
    ReaderProcess: CommandProtocol LoginProtocol signet-reader testreader
    ReaderProtocol: CommandProtocol
    Relay: Crypto HTTPServer RelyingPartySupport signet-relay signet-server
    RelyingParty: ModuleOptions SQLSupport TPM signet-server
    SQL: SQLSupport database-writer
    SSHAgentProcess: signet-agent
    SSHProtocol: CommandProtocol FrameSamples
    SSHProvider: CommandProtocol FrameSamples Posix
    Sealing: CommandMessages LoginMessages StateSupport
    Site: Domain RelyingPartySupport signet-server signet-site
    State: CommandMessages Doctor Gate LoginMessages StateSupport
    System: CommandProtocol Domain Fingerprints LoginProtocol Posix RelyingPartySupport signet
        signet-agent signet-relay signet-server testfixture testreader verify-password
    Systemd: TestScopes
    """)

/// Those that are compiled in another way.
let others: [Target] = [
    .target(
        name: "Fingerprints", path: "Tests/Fingerprints",
        swiftSettings: common + [.unsafeFlags(["-O"])]),
    .target(name: "CTestSupport", path: "Tests/CTestSupport"),
    .target(name: "PlayedUSB", path: "Tests/PlayedUSB"),
    .target(name: "NameFold", path: "Tests/NameFold"),
    // In C: Signet's own half of the bus offers nothing there.
    .executableTarget(name: "mock-logind", dependencies: ["CGLib"], path: "Tests/MockLogind"),
    .executableTarget(
        name: "PAMModuleProbe", path: "Tests/PAMModuleProbe",
        linkerSettings: [.linkedLibrary("pam")]),
]

/// Everything but the module.
@MainActor func everything() -> Package {
    Package(
        name: "signet",
        products: products.map { .executable(name: $0.name, targets: [$0.name]) } + [
            // For tests: it takes libusb's place in a daemon of testfixture's.
            .library(name: "playedusb", type: .dynamic, targets: ["PlayedUSB"]),
            // For tests: a name service that folds case.
            .library(name: "nss-fold", type: .dynamic, targets: ["NameFold"]),
        ],
        targets: shared(common) + sshProvider(common, linker: []) + cTargets + device
            + systemAndServer + products + testSupport + testPrograms + testTargets + others + [
                // Writes the lists of all commands, requests and the like.
                .plugin(name: "Listing", capability: .buildTool(), path: "Plugins/Listing")
            ],
        cLanguageStandard: .c17
    )
}

// `make module` sets it, to `signet` or `fprintd`. A target is compiled in one way at a time, so the
// builds are apart, each with a scratch path of its own.
let package = Context.environment["SIGNET_MODULE"].map(module) ?? everything()
