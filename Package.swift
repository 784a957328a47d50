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

/// What the PAM module shares with the other programs, all of it: pure, no C, no system calls.
func shared(_ settings: [SwiftSetting]) -> [Target] {
    [
        .target(name: "Domain", path: "Sources/Shared/Domain", swiftSettings: settings),
        .target(
            name: "LoginProtocol", dependencies: ["Domain"], path: "Sources/Shared/LoginProtocol",
            swiftSettings: settings),
        .target(
            name: "SignedFormats", dependencies: ["Domain"], path: "Sources/Shared/SignedFormats",
            swiftSettings: settings),
        .target(
            name: "SSHProtocol", dependencies: ["Domain", "LoginProtocol", "SignedFormats"],
            path: "Sources/Shared/SSHProtocol", swiftSettings: settings),
        .target(
            name: "LoginMessages",
            dependencies: ["Domain", "LoginProtocol", "SSHProtocol", "SignedFormats"],
            path: "Sources/Shared/LoginMessages",
            swiftSettings: settings),
        .target(
            name: "ModuleOptions", dependencies: ["Domain", "LoginProtocol", "SignedFormats"],
            path: "Sources/Shared/ModuleOptions",
            swiftSettings: settings),
    ]
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
        .systemLibrary(name: "CSSHProvider", path: "Sources/C/CSSHProvider"),
        .target(
            name: "SSHProvider",
            dependencies: [
                "CSSHProvider", "Domain", "LoginMessages", "LoginProtocol", "SSHProtocol",
                "SignedFormats",
            ], path: "Sources/SSHProvider", swiftSettings: settings, linkerSettings: linker),
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
            + sshProvider(embedded, linker: loaded(exporting: "ssh/sk-signet.map")) + [
                .systemLibrary(name: "CPAMModule", path: "Sources/C/CPAMModule"),
                .target(
                    name: "PAMModule",
                    dependencies: [
                        "CPAMModule", "Domain", "LoginMessages", "LoginProtocol", "ModuleOptions",
                        "SignedFormats",
                    ], path: "Sources/Module", exclude: ["Editions/\(other)Edition.swift"],
                    swiftSettings: embedded,
                    linkerSettings: loaded(exporting: "pam/pam_signet.map", needing: ["pam"])),
            ]
    )
}

/// Everything else.
func programs() -> Package {
    Package(
        name: "signet",
        products: [
            .executable(name: "signetd", targets: ["signetd"]),
            .executable(name: "signet", targets: ["signet"]),
            .executable(name: "signet-agent", targets: ["signet-agent"]),
            .executable(name: "signet-fprint", targets: ["signet-fprint"]),
            .executable(name: "fprintd-client", targets: ["fprintd-client"]),
            .executable(name: "signet-notify", targets: ["signet-notify"]),
            .executable(name: "signet-reader", targets: ["signet-reader"]),
            .executable(name: "signet-relay", targets: ["signet-relay"]),
            .executable(name: "signet-server", targets: ["signet-server"]),
            .executable(name: "signet-site", targets: ["signet-site"]),
            .executable(name: "verify-password", targets: ["verify-password"]),
            // For tests: it takes libusb's place in a daemon of testfixture's.
            .library(name: "playedusb", type: .dynamic, targets: ["PlayedUSB"]),
            // For tests: a name service that folds case.
            .library(name: "nss-fold", type: .dynamic, targets: ["NameFold"]),
        ],
        targets: shared(common) + sshProvider(common, linker: []) + [
            // Writes the lists of all commands, requests and the like when they are compiled.
            .plugin(name: "Listing", capability: .buildTool(), path: "Plugins/Listing"),

            // C libraries: a module map and a header of includes, nothing else.
            .systemLibrary(name: "CLinux", path: "Sources/C/CLinux"),
            .systemLibrary(name: "COpenSSL", path: "Sources/C/COpenSSL", pkgConfig: "libcrypto"),
            .systemLibrary(name: "CGLib", path: "Sources/C/CGLib", pkgConfig: "gio-unix-2.0"),
            .systemLibrary(
                name: "CFprint", path: "Sources/C/CFprint",
                pkgConfig: "libfprint-2 gio-unix-2.0 gusb"),
            .systemLibrary(name: "CPAM", path: "Sources/C/CPAM"),
            .systemLibrary(name: "CSystemd", path: "Sources/C/CSystemd", pkgConfig: "libsystemd"),
            .systemLibrary(
                name: "CTSS", path: "Sources/C/CTSS",
                pkgConfig: "tss2-esys tss2-sys tss2-tctildr tss2-mu tss2-rc"),

            .systemLibrary(
                name: "CMicrohttpd", path: "Sources/C/CMicrohttpd", pkgConfig: "libmicrohttpd"),
            .systemLibrary(name: "CGnuTLS", path: "Sources/C/CGnuTLS", pkgConfig: "gnutls"),
            .systemLibrary(name: "CSQLite", path: "Sources/C/CSQLite", pkgConfig: "sqlite3"),
            .systemLibrary(name: "CPostgreSQL", path: "Sources/C/CPostgreSQL", pkgConfig: "libpq"),
            .systemLibrary(name: "CCurl", path: "Sources/C/CCurl", pkgConfig: "libcurl"),

            // Pure: no C, no system calls.
            .target(
                name: "CommandProtocol",
                dependencies: ["Domain", "LoginProtocol", "SSHProtocol", "SignedFormats"],
                path: "Sources/Device/CommandProtocol",
                swiftSettings: common, plugins: ["Listing"]),
            // What is said on an ssh agent's socket.
            .target(
                name: "SSHAgentProtocol", dependencies: ["Domain", "SignedFormats"],
                path: "Sources/Device/SSHAgentProtocol", swiftSettings: common),
            // The interface that desktops use: which calls are in order, and what they are told.
            .target(
                name: "DesktopInterface",
                dependencies: ["CommandProtocol", "Domain", "LoginProtocol"],
                path: "Sources/Device/DesktopInterface", swiftSettings: common),
            .target(
                name: "CommandMessages",
                dependencies: [
                    "CommandProtocol", "Domain", "LoginMessages", "LoginProtocol", "SSHProtocol",
                    "SignedFormats",
                ], path: "Sources/Device/CommandMessages",
                swiftSettings: common),
            .target(
                name: "Configuration", path: "Sources/Device/Configuration", swiftSettings: common),
            // What every program is called with: declaration, parser, help.
            .target(
                name: "ArgumentSyntax",
                dependencies: ["LoginMessages", "LoginProtocol", "SignedFormats"],
                path: "Sources/Device/ArgumentSyntax", swiftSettings: common),
            .target(
                name: "Authorization",
                dependencies: ["Configuration", "Domain", "LoginProtocol", "SignedFormats"],
                path: "Sources/Device/Authorization", swiftSettings: common),

            // One wrapper for each C library.
            .target(
                name: "Posix", dependencies: ["CLinux"], path: "Sources/System/Posix",
                swiftSettings: common),
            .target(
                name: "Crypto", dependencies: ["COpenSSL", "Domain", "Posix", "SignedFormats"],
                path: "Sources/System/Crypto",
                swiftSettings: common),
            .target(
                name: "Systemd", dependencies: ["CSystemd", "Posix"],
                path: "Sources/System/Systemd", swiftSettings: common),
            .target(
                name: "MainContext", dependencies: ["CGLib", "Posix"],
                path: "Sources/System/MainContext", swiftSettings: common),
            .target(
                name: "DBus", dependencies: ["CGLib", "MainContext", "Posix"],
                path: "Sources/System/DBus", swiftSettings: common),
            // What signetd and the process of the readers say to each other, and the form of prints.
            .target(
                name: "ReaderProtocol", dependencies: ["CGLib", "LoginProtocol"],
                path: "Sources/Device/ReaderProtocol",
                swiftSettings: common),
            .target(
                name: "FingerprintReader",
                dependencies: [
                    "CFprint", "LoginProtocol", "MainContext", "Posix", "ReaderProtocol",
                ], path: "Sources/System/FingerprintReader",
                swiftSettings: common),
            .target(
                name: "PasswordCheck",
                dependencies: ["ArgumentSyntax", "CPAM", "Domain", "LoginMessages", "Posix"],
                path: "Sources/Device/PasswordCheck", swiftSettings: common),
            // What TPMs write and sign, without one: the server reads it, too.
            .target(
                name: "TPMStructures", dependencies: ["Crypto", "Posix"],
                path: "Sources/System/TPMStructures", swiftSettings: common),
            .target(
                name: "TPM", dependencies: ["CTSS", "Crypto", "Posix", "TPMStructures"],
                path: "Sources/System/TPM", swiftSettings: common),
            .target(
                name: "Sealing",
                dependencies: [
                    "Crypto", "Domain", "Gate", "Posix", "SignedFormats", "TPM", "TPMStructures",
                ],
                path: "Sources/Device/Sealing",
                swiftSettings: common),

            .target(
                name: "CatalogueFiles", dependencies: ["LoginMessages", "LoginProtocol", "Posix"],
                path: "Sources/Device/CatalogueFiles",
                swiftSettings: common),
            .target(
                name: "ConfigurationFiles", dependencies: ["Configuration", "Posix"],
                path: "Sources/Device/ConfigurationFiles", swiftSettings: common
            ),

            // The server's API as devices use it: bodies, once, for the server and the relay.
            .target(
                name: "ServerAPI", dependencies: ["Domain", "SignedFormats"],
                path: "Sources/Shared/ServerAPI", swiftSettings: common),
            .target(
                name: "JSONFormat", dependencies: ["SignedFormats"],
                path: "Sources/Shared/JSONFormat", swiftSettings: common),

            .target(
                name: "HTTPServer", dependencies: ["CGnuTLS", "CMicrohttpd", "Posix"],
                path: "Sources/System/HTTPServer",
                swiftSettings: common),
            .target(
                name: "HTTPClient", dependencies: ["CCurl", "Posix"],
                path: "Sources/System/HTTPClient", swiftSettings: common),
            .target(
                name: "SQL", dependencies: ["CPostgreSQL", "CSQLite", "Posix"],
                path: "Sources/System/SQL",
                swiftSettings: common),

            // Evidence that a person is there and that a finger matched: what keys open for.
            .target(
                name: "Gate",
                dependencies: [
                    "Authorization", "CommandMessages", "CommandProtocol", "Configuration",
                    "Domain",
                    "LoginMessages",
                    "LoginProtocol", "MainContext", "Posix", "Systemd",
                ], path: "Sources/Device/Gate",
                swiftSettings: common),

            // What is kept on disk.
            .target(
                name: "State",
                dependencies: [
                    "Authorization", "CommandProtocol", "Crypto", "Domain", "LoginProtocol",
                    "Posix", "Sealing", "SignedFormats",
                ], path: "Sources/Device/State",
                swiftSettings: common),

            // What is wrong with a machine: it only looks.
            .target(
                name: "Doctor",
                dependencies: [
                    "ArgumentSyntax", "Authorization", "CommandMessages", "CommandProtocol",
                    "Configuration", "ConfigurationFiles", "Domain", "LoginMessages",
                    "LoginProtocol", "ModuleOptions", "Posix", "SignedFormats",
                ], path: "Sources/Device/Doctor", swiftSettings: common),

            // The programs, as libraries.
            .target(
                name: "Daemon",
                dependencies: [
                    "ArgumentSyntax", "Authorization", "CommandMessages", "CommandProtocol",
                    "Configuration", "ConfigurationFiles", "Crypto", "DBus", "Domain", "Gate",
                    "LoginMessages", "LoginProtocol", "MainContext", "PasswordCheck", "Posix",
                    "ReaderProtocol", "SSHProtocol", "Sealing", "SignedFormats", "State", "Systemd",
                ], path: "Sources/Device/Daemon", swiftSettings: common, plugins: ["Listing"]),
            .target(
                name: "Command",
                dependencies: [
                    "ArgumentSyntax", "Authorization", "CatalogueFiles", "CommandMessages",
                    "CommandProtocol", "Configuration", "ConfigurationFiles", "Crypto", "Doctor",
                    "Domain", "JSONFormat", "LoginMessages", "LoginProtocol", "Posix",
                    "SSHProtocol", "SignedFormats",
                ], path: "Sources/Device/Command",
                swiftSettings: common, plugins: ["Listing"]),
            .target(
                name: "Notifier",
                dependencies: [
                    "ArgumentSyntax", "CatalogueFiles", "CommandMessages", "CommandProtocol",
                    "DBus", "Domain", "LoginMessages", "LoginProtocol", "MainContext", "Posix",
                ], path: "Sources/Device/Notifier",
                swiftSettings: common),
            // fprintd's commands, as clients of the bus.
            .target(
                name: "DesktopClient",
                dependencies: ["DBus", "DesktopInterface", "LoginProtocol", "MainContext"],
                path: "Sources/Device/DesktopClient", swiftSettings: common),
            // What desktops ask on the system bus, as a library.
            .target(
                name: "DesktopProcess",
                dependencies: [
                    "ArgumentSyntax", "CommandProtocol", "DBus", "DesktopInterface", "Domain",
                    "LoginMessages", "LoginProtocol", "MainContext", "Posix", "Systemd",
                ], path: "Sources/Device/DesktopProcess",
                swiftSettings: common),
            // What programs ask on an ssh agent's socket, as a library.
            .target(
                name: "SSHAgentProcess",
                dependencies: [
                    "ArgumentSyntax", "CommandProtocol", "Configuration", "ConfigurationFiles",
                    "Crypto", "Domain", "LoginMessages", "LoginProtocol", "MainContext", "Posix",
                    "SSHAgentProtocol", "SSHProtocol", "SignedFormats", "Systemd",
                ],
                path: "Sources/Device/SSHAgentProcess",
                swiftSettings: common),
            // The only part with libfprint and the readers, as a library.
            .target(
                name: "ReaderProcess",
                dependencies: [
                    "ArgumentSyntax", "FingerprintReader", "LoginMessages", "MainContext",
                    "Posix", "ReaderProtocol", "Systemd",
                ], path: "Sources/Device/ReaderProcess",
                swiftSettings: common),

            // The only part of the device with network, as a library.
            .target(
                name: "Relay",
                dependencies: [
                    "ArgumentSyntax", "Authorization", "CommandProtocol", "Configuration",
                    "ConfigurationFiles", "Domain", "HTTPClient", "JSONFormat", "LoginMessages",
                    "LoginProtocol", "Posix", "ServerAPI", "SignedFormats", "Systemd",
                ], path: "Sources/Device/Relay", swiftSettings: common),

            // The relying party, as a library.
            .target(
                name: "RelyingParty",
                dependencies: [
                    "ArgumentSyntax", "Authorization", "Configuration", "ConfigurationFiles",
                    "Crypto", "Domain", "HTTPClient", "HTTPServer", "JSONFormat", "LoginMessages",
                    "Posix", "SQL", "ServerAPI", "SignedFormats", "Systemd", "TPMStructures",
                ], path: "Sources/RelyingParty", swiftSettings: common),

            // The documented example of an application's back end, as a library.
            .target(
                name: "Site",
                dependencies: [
                    "Configuration", "Crypto", "HTTPClient", "HTTPServer", "JSONFormat", "Posix",
                    "SignedFormats",
                ], path: "Examples/Site", swiftSettings: common),
            .executableTarget(
                name: "signet-site", dependencies: ["Site"], path: "Examples/signet-site",
                swiftSettings: common, linkerSettings: installed),

            // The programs.
            .executableTarget(
                name: "signetd",
                dependencies: ["ArgumentSyntax", "Configuration", "Daemon", "Posix"],
                path: "Sources/Programs/signetd", swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "signet", dependencies: ["Command"], path: "Sources/Programs/signet",
                swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "signet-reader",
                dependencies: ["ArgumentSyntax", "Configuration", "Posix", "ReaderProcess"],
                path: "Sources/Programs/signet-reader",
                swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "signet-relay",
                dependencies: ["ArgumentSyntax", "Configuration", "Posix", "Relay"],
                path: "Sources/Programs/signet-relay",
                swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "signet-server",
                dependencies: ["ArgumentSyntax", "Configuration", "Posix", "RelyingParty"],
                path: "Sources/Programs/signet-server",
                swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "signet-notify",
                dependencies: ["ArgumentSyntax", "Configuration", "Notifier", "Posix"],
                path: "Sources/Programs/signet-notify", swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "fprintd-client", dependencies: ["DesktopClient"],
                path: "Sources/Programs/fprintd-client", swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "signet-agent",
                dependencies: ["ArgumentSyntax", "Configuration", "Posix", "SSHAgentProcess"],
                path: "Sources/Programs/signet-agent", swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "signet-fprint",
                dependencies: ["ArgumentSyntax", "Configuration", "DesktopProcess", "Posix"],
                path: "Sources/Programs/signet-fprint", swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "verify-password", dependencies: ["Configuration", "PasswordCheck"],
                path: "Sources/Programs/verify-password", swiftSettings: common,
                linkerSettings: installed),

            // Tests mirror sources, directory by directory; what the tests of one target share is in its
            // Fixtures. Support, StateSupport, Fingerprints and testfixture are shared by tests, demo and
            // benchmarks. Scopes is for tests alone.
            .target(name: "CTestSupport", path: "Tests/CTestSupport"),
            .target(name: "PlayedUSB", path: "Tests/PlayedUSB"),
            .target(name: "NameFold", path: "Tests/NameFold"),
            .target(
                name: "TestSupport",
                dependencies: [
                    "CTestSupport", "CommandProtocol", "Crypto", "Domain", "LoginProtocol", "Posix",
                    "SignedFormats",
                ],
                path: "Tests/Support", swiftSettings: common),
            .target(
                name: "FrameSamples",
                dependencies: [
                    "CommandProtocol", "Domain", "LoginProtocol", "SSHProtocol", "SignedFormats",
                    "TestSupport",
                ],
                path: "Tests/FrameSamples", swiftSettings: common, plugins: ["Listing"]),
            .target(name: "TestScopes", path: "Tests/Scopes", swiftSettings: common),
            .target(
                name: "StateSupport",
                dependencies: [
                    "CommandProtocol", "Configuration", "Crypto", "Domain", "Gate", "LoginProtocol",
                    "MainContext", "Posix", "Sealing", "SignedFormats", "State", "Systemd",
                ],
                path: "Tests/StateSupport", swiftSettings: common),
            .target(
                name: "RelyingPartySupport",
                dependencies: ["Crypto", "SQL", "HTTPClient", "Posix", "TestSupport"],
                path: "Tests/RelyingPartySupport", swiftSettings: common),
            .target(
                name: "SQLSupport", dependencies: ["SQL", "TestSupport"],
                path: "Tests/SQLSupport", swiftSettings: common),
            .target(
                name: "Fingerprints", path: "Tests/Fingerprints",
                swiftSettings: common + [.unsafeFlags(["-O"])]),
            .executableTarget(
                name: "testfixture",
                dependencies: [
                    "CTestSupport", "CommandProtocol", "Daemon", "DesktopProcess", "Fingerprints",
                    "LoginProtocol", "Posix", "State", "TestSupport",
                ],
                path: "Tests/Testfixture", swiftSettings: common),
            .executableTarget(
                name: "testreader", dependencies: ["CTestSupport", "Posix", "ReaderProcess"],
                path: "Tests/Testreader", swiftSettings: common),
            .executableTarget(
                name: "fingerprint-acceptance",
                dependencies: [
                    "CommandProtocol", "Fingerprints", "LoginProtocol", "MainContext",
                    "FingerprintReader",
                    "ReaderProtocol", "TestSupport",
                ],
                path: "Benchmarks/Acceptance", swiftSettings: common),
            .executableTarget(
                name: "bench",
                dependencies: [
                    "Crypto", "Domain", "SQL", "Gate", "HTTPServer", "Posix", "RelyingParty",
                    "SignedFormats", "State", "StateSupport", "TestSupport", "Sealing",
                ],
                path: "Benchmarks/Bench", swiftSettings: common),
            // What is written from the declarations of the programs: `make generated`.
            .target(
                name: "Generators", dependencies: ["ArgumentSyntax", "LoginMessages"],
                path: "Tests/Generators", swiftSettings: common),
            .executableTarget(
                name: "generate",
                dependencies: [
                    "ArgumentSyntax", "Command", "Daemon", "DesktopProcess", "Generators",
                    "LoginMessages", "Posix", "ReaderProcess", "Relay", "RelyingParty",
                    "SSHAgentProcess",
                ],
                path: "Tests/Generate", swiftSettings: common),
            .executableTarget(
                name: "database-writer", dependencies: ["SQL"], path: "Tests/DatabaseWriter",
                swiftSettings: common),
            // In C: Signet's own half of the bus offers nothing there.
            .executableTarget(
                name: "mock-logind", dependencies: ["CGLib"], path: "Tests/MockLogind"),
            .systemLibrary(name: "CPAMModule", path: "Sources/C/CPAMModule"),
            // The module's verifier alone, for tests: the module is compiled as Embedded Swift.
            .target(
                name: "ModuleVerifier",
                dependencies: [
                    "CPAMModule", "Domain", "LoginProtocol", "ModuleOptions", "SignedFormats",
                ], path: "Sources/Module/Verification",
                swiftSettings: common),
            .executableTarget(
                name: "PAMModuleProbe", path: "Tests/PAMModuleProbe",
                linkerSettings: [.linkedLibrary("pam")]),
            .testTarget(
                name: "LoginProtocolTests",
                dependencies: [
                    "CommandProtocol", "Domain", "FrameSamples", "LoginProtocol", "TestSupport",
                ],
                path: "Tests/LoginProtocol", swiftSettings: common),
            .testTarget(
                name: "SSHProtocolTests",
                dependencies: [
                    "CommandProtocol", "Domain", "FrameSamples", "LoginProtocol", "SSHProtocol",
                    "TestSupport",
                ],
                path: "Tests/SSHProtocol", swiftSettings: common),
            .testTarget(
                name: "SSHAgentProtocolTests",
                dependencies: ["SSHAgentProtocol", "SignedFormats", "TestSupport"],
                path: "Tests/SSHAgentProtocol", swiftSettings: common),
            .testTarget(
                name: "SSHAgentProcessTests",
                dependencies: [
                    "CommandProtocol", "Configuration", "Crypto", "Domain", "LoginProtocol",
                    "Posix", "SSHAgentProcess", "SSHAgentProtocol", "SSHProtocol", "SignedFormats",
                    "TestSupport", "signet-agent",
                ], path: "Tests/SSHAgentProcess", swiftSettings: common),
            .testTarget(
                name: "SSHProviderTests",
                dependencies: [
                    "CommandProtocol", "Domain", "FrameSamples", "LoginMessages", "LoginProtocol",
                    "Posix", "SSHProtocol", "SSHProvider", "SignedFormats", "TestSupport",
                ],
                path: "Tests/SSHProvider", swiftSettings: common),
            .testTarget(
                name: "CommandProtocolTests",
                dependencies: [
                    "CommandProtocol", "Domain", "FrameSamples", "LoginProtocol", "TestSupport",
                ],
                path: "Tests/CommandProtocol", swiftSettings: common),
            .testTarget(
                name: "DesktopInterfaceTests",
                dependencies: [
                    "CommandProtocol", "DesktopInterface", "Domain", "LoginProtocol", "TestSupport",
                ],
                path: "Tests/DesktopInterface", swiftSettings: common),
            .testTarget(
                name: "DesktopClientTests", dependencies: ["DesktopClient"],
                path: "Tests/DesktopClient", swiftSettings: common),
            .testTarget(
                name: "DomainTests", dependencies: ["Domain", "SignedFormats", "TestSupport"],
                path: "Tests/Domain", swiftSettings: common),
            .testTarget(
                name: "SignedFormatsTests",
                dependencies: ["Domain", "SignedFormats", "TestSupport"],
                path: "Tests/SignedFormats", swiftSettings: common),
            .testTarget(
                name: "LoginMessagesTests",
                dependencies: [
                    "ArgumentSyntax", "CommandMessages", "CommandProtocol", "Domain",
                    "LoginMessages", "LoginProtocol", "TestSupport",
                ],
                path: "Tests/LoginMessages", swiftSettings: common),
            .testTarget(
                name: "ConfigurationTests", dependencies: ["Configuration"],
                path: "Tests/Configuration", swiftSettings: common),
            .testTarget(
                name: "AuthorizationTests",
                dependencies: ["Authorization", "Configuration", "Domain", "LoginProtocol"],
                path: "Tests/Authorization", swiftSettings: common),
            .testTarget(
                name: "PosixTests", dependencies: ["Posix", "TestSupport"],
                path: "Tests/Posix", swiftSettings: common),
            .testTarget(
                name: "CryptoTests",
                dependencies: ["Crypto", "Posix", "SignedFormats", "TestSupport"],
                path: "Tests/Crypto", swiftSettings: common),
            .testTarget(
                name: "SystemdTests", dependencies: ["Posix", "Systemd", "TestScopes"],
                path: "Tests/Systemd", swiftSettings: common),
            .testTarget(
                name: "MainContextTests", dependencies: ["MainContext", "Posix"],
                path: "Tests/MainContext", swiftSettings: common),
            .testTarget(
                name: "DBusTests",
                dependencies: ["DBus", "CTestSupport", "MainContext", "Posix", "TestSupport"],
                path: "Tests/DBus", swiftSettings: common),
            .testTarget(
                name: "FingerprintReaderTests",
                dependencies: [
                    "CTestSupport", "CommandProtocol", "LoginProtocol", "MainContext",
                    "FingerprintReader",
                    "ReaderProtocol", "TestSupport",
                ],
                path: "Tests/FingerprintReader", swiftSettings: common),
            .testTarget(
                name: "ReaderProtocolTests",
                dependencies: [
                    "CommandProtocol", "LoginProtocol", "ReaderProtocol", "TestSupport",
                ],
                path: "Tests/ReaderProtocol", swiftSettings: common),
            .testTarget(
                name: "ReaderProcessTests",
                dependencies: [
                    "CommandProtocol", "LoginProtocol", "Posix", "ReaderProtocol", "TestSupport",
                    "testreader", "signet-reader",
                ],
                path: "Tests/ReaderProcess", swiftSettings: common),
            .testTarget(
                name: "PasswordCheckTests",
                dependencies: ["PasswordCheck", "TestScopes", "TestSupport", "verify-password"],
                path: "Tests/PasswordCheck", swiftSettings: common),
            .testTarget(
                name: "TPMTests",
                dependencies: ["Crypto", "Posix", "TPM", "TPMStructures", "TestSupport"],
                path: "Tests/TPM", swiftSettings: common),
            .testTarget(
                name: "TPMStructuresTests",
                dependencies: ["Crypto", "Posix", "TPMStructures", "TestSupport"],
                path: "Tests/TPMStructures", swiftSettings: common),
            .testTarget(
                name: "SealingTests",
                dependencies: [
                    "CommandMessages", "Crypto", "Domain", "Gate", "LoginMessages", "Posix",
                    "SignedFormats", "StateSupport", "TPMStructures", "TestSupport", "Sealing",
                ],
                path: "Tests/Sealing", swiftSettings: common),
            .testTarget(
                name: "StateTests",
                dependencies: [
                    "Authorization", "CommandMessages", "CommandProtocol", "Crypto", "Doctor",
                    "Domain", "Gate", "LoginMessages", "LoginProtocol", "Posix", "Sealing",
                    "SignedFormats", "State", "StateSupport", "TestSupport",
                ], path: "Tests/State", swiftSettings: common),
            .testTarget(
                name: "DaemonTests",
                dependencies: [
                    "Authorization", "Command", "CommandMessages", "CommandProtocol",
                    "Configuration", "Crypto", "DBus", "Daemon", "DesktopInterface",
                    "DesktopProcess", "Domain", "Gate", "LoginMessages", "LoginProtocol",
                    "MainContext", "Posix", "ReaderProtocol",
                    "Relay", "RelyingPartySupport", "SSHProtocol", "Sealing", "SignedFormats",
                    "State",
                    "StateSupport", "Systemd", "TestScopes", "TestSupport", "fprintd-client",
                    "signet-relay", "signet-server",
                    "testfixture", "testreader",
                ], path: "Tests/Daemon", swiftSettings: common),
            .testTarget(
                name: "GateTests",
                dependencies: [
                    "CommandMessages", "CommandProtocol", "Configuration", "Domain", "Gate",
                    "LoginMessages", "LoginProtocol", "MainContext", "Posix", "Systemd",
                    "TestSupport",
                ],
                path: "Tests/Gate", swiftSettings: common),
            .testTarget(
                name: "DoctorTests",
                dependencies: [
                    "CommandMessages", "CommandProtocol", "Configuration", "Doctor", "Domain",
                    "LoginMessages", "LoginProtocol", "Posix", "TestSupport",
                ],
                path: "Tests/Doctor", swiftSettings: common),
            .testTarget(
                name: "ArgumentSyntaxTests",
                dependencies: [
                    "ArgumentSyntax", "Generators", "LoginMessages", "TestSupport", "generate",
                ],
                path: "Tests/ArgumentSyntax", swiftSettings: common),
            .testTarget(
                name: "CommandTests",
                dependencies: [
                    "ArgumentSyntax", "CatalogueFiles", "Command", "CommandMessages",
                    "CommandProtocol", "Configuration", "Crypto", "Doctor", "Domain", "Generators",
                    "LoginMessages", "LoginProtocol", "ModuleOptions", "Posix", "SSHProtocol",
                    "SignedFormats", "TestSupport", "signet",
                ], path: "Tests/Command", swiftSettings: common),
            .testTarget(
                name: "PAMModuleTests",
                dependencies: [
                    "CommandProtocol", "Crypto", "Domain", "LoginProtocol", "ModuleOptions",
                    "ModuleVerifier", "Posix", "SignedFormats", "TestSupport", "PAMModuleProbe",
                ],
                path: "Tests/PAMModule", swiftSettings: common),
            .testTarget(
                name: "HTTPServerTests",
                dependencies: ["HTTPServer", "HTTPClient", "Posix", "TestScopes", "TestSupport"],
                path: "Tests/HTTPServer", swiftSettings: common),
            .testTarget(
                name: "SQLTests",
                dependencies: [
                    "SQL", "SQLSupport", "Posix", "TestSupport", "database-writer",
                ],
                path: "Tests/SQL", swiftSettings: common),
            .testTarget(
                name: "RelayTests",
                dependencies: [
                    "CommandProtocol", "Crypto", "Domain", "HTTPServer", "HTTPClient",
                    "LoginProtocol", "Posix", "Relay", "RelyingPartySupport", "SignedFormats",
                    "TestSupport", "signet-relay", "signet-server",
                ], path: "Tests/Relay", swiftSettings: common),
            .testTarget(
                name: "RelyingPartyTests",
                dependencies: [
                    "ArgumentSyntax", "Configuration", "Crypto", "Domain", "HTTPClient",
                    "HTTPServer", "JSONFormat", "ModuleOptions", "Posix", "RelyingParty", "SQL",
                    "SQLSupport", "ServerAPI", "SignedFormats", "TPM", "TPMStructures",
                    "TestSupport", "signet-server",
                ], path: "Tests/RelyingParty", exclude: ["Fixtures/Judges"], swiftSettings: common),
            .testTarget(
                name: "SiteTests",
                dependencies: [
                    "Crypto", "Domain", "HTTPClient", "HTTPServer", "JSONFormat", "Posix",
                    "RelyingPartySupport", "SignedFormats", "Site", "TestSupport", "signet-server",
                    "signet-site",
                ], path: "Tests/Site", exclude: ["Fixtures/browser.py"], swiftSettings: common),
            .testTarget(
                name: "JSONFormatTests", dependencies: ["JSONFormat"], path: "Tests/JSONFormat",
                swiftSettings: common),
            .testTarget(
                name: "FingerprintsTests", dependencies: ["Fingerprints"],
                path: "Tests/FingerprintsTests", swiftSettings: common),
            .testTarget(
                name: "OtherDebianTests", dependencies: ["TestSupport"],
                path: "Tests/OtherDebian", exclude: ["root", "run"], swiftSettings: common),
            .testTarget(
                name: "SupportTests", dependencies: ["TestSupport"],
                path: "Tests/SupportTests", swiftSettings: common),
            .testTarget(
                name: "SystemTests",
                dependencies: [
                    "CommandProtocol", "Domain", "Fingerprints", "LoginProtocol", "Posix",
                    "RelyingPartySupport", "TestSupport", "signet", "signet-agent", "signet-relay",
                    "signet-server", "testfixture", "testreader", "verify-password",
                ], path: "Tests/System", swiftSettings: common),
        ],
        cLanguageStandard: .c17
    )
}

// `make module` sets it, to `signet` or `fprintd`. A target is compiled in one way at a time, so the
// builds are apart, each with a scratch path of its own.
let package = Context.environment["SIGNET_MODULE"].map(module) ?? programs()
