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
        .target(name: "LoginProtocol", swiftSettings: settings),
        .target(name: "SignedFormats", swiftSettings: settings),
        .target(
            name: "LoginMessages", dependencies: ["LoginProtocol", "SignedFormats"],
            swiftSettings: settings),
        .target(
            name: "ModuleOptions", dependencies: ["LoginProtocol", "SignedFormats"],
            swiftSettings: settings),
    ]
}

/// The PAM module alone: it and what it shares are compiled as Embedded Swift.
func module() -> Package {
    Package(
        name: "signet",
        products: [.library(name: "pam_signet", type: .dynamic, targets: ["PAMModule"])],
        targets: shared(embedded) + [
            .systemLibrary(name: "CPAMModule"),
            .target(
                name: "PAMModule",
                dependencies: [
                    "CPAMModule", "LoginMessages", "LoginProtocol", "ModuleOptions",
                    "SignedFormats",
                ],
                swiftSettings: embedded,
                linkerSettings: [
                    .linkedLibrary("pam"),
                    .unsafeFlags([
                        "-use-ld=lld",
                        "-Xlinker", "--version-script=pam/pam_signet.map",
                        "-Xlinker", "--gc-sections", "-Xlinker", "--icf=all",
                        "-Xlinker", "-zpack-relative-relocs",
                        "-Xlinker", "-zdefs", "-Xlinker", "-zrelro", "-Xlinker", "-znow",
                        "-Xlinker", "-znoexecstack",
                    ]),
                ]),
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
            .executable(name: "signet-notify", targets: ["signet-notify"]),
            .executable(name: "signet-reader", targets: ["signet-reader"]),
            .executable(name: "signet-relay", targets: ["signet-relay"]),
            .executable(name: "signet-server", targets: ["signet-server"]),
            .executable(name: "verify-password", targets: ["verify-password"]),
            // For tests: it takes libusb's place in a daemon of testbench's.
            .library(name: "playedusb", type: .dynamic, targets: ["PlayedUSB"]),
        ],
        targets: shared(common) + [
            // C libraries: a module map and a header of includes, nothing else.
            .systemLibrary(name: "CLinux"),
            .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto"),
            .systemLibrary(name: "CGLib", pkgConfig: "gio-unix-2.0"),
            .systemLibrary(name: "CFprint", pkgConfig: "libfprint-2 gio-unix-2.0 gusb"),
            .systemLibrary(name: "CPAM"),
            .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd"),
            .systemLibrary(
                name: "CTSS", pkgConfig: "tss2-esys tss2-sys tss2-tctildr tss2-mu tss2-rc"),

            .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd"),
            .systemLibrary(name: "CGnuTLS", pkgConfig: "gnutls"),
            .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
            .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq"),
            .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),

            // Pure: no C, no system calls.
            .target(
                name: "CommandProtocol", dependencies: ["LoginProtocol", "SignedFormats"],
                swiftSettings: common),
            .target(
                name: "CommandMessages",
                dependencies: [
                    "CommandProtocol", "LoginMessages", "LoginProtocol", "SignedFormats",
                ],
                swiftSettings: common),
            .target(
                name: "Policy", dependencies: ["LoginProtocol", "SignedFormats"],
                swiftSettings: common),

            // One wrapper for each C library.
            .target(name: "Posix", dependencies: ["CLinux"], swiftSettings: common),
            .target(
                name: "Crypto", dependencies: ["COpenSSL", "Posix", "SignedFormats"],
                swiftSettings: common),
            .target(name: "Systemd", dependencies: ["CSystemd", "Posix"], swiftSettings: common),
            .target(name: "Loop", dependencies: ["CGLib", "Posix"], swiftSettings: common),
            .target(name: "Bus", dependencies: ["CGLib", "Loop", "Posix"], swiftSettings: common),
            // What signetd and the process of the readers say to each other, and the form of prints.
            .target(
                name: "ReaderProtocol", dependencies: ["CGLib", "LoginProtocol"],
                swiftSettings: common),
            .target(
                name: "Reader",
                dependencies: ["CFprint", "LoginProtocol", "Loop", "Posix", "ReaderProtocol"],
                swiftSettings: common),
            .target(name: "Password", dependencies: ["CPAM", "Posix"], swiftSettings: common),
            .target(name: "TPM", dependencies: ["CTSS", "Crypto", "Posix"], swiftSettings: common),
            .target(
                name: "Vault", dependencies: ["Crypto", "Gate", "Posix", "SignedFormats", "TPM"],
                swiftSettings: common),

            .target(
                name: "CatalogueFiles", dependencies: ["LoginMessages", "LoginProtocol", "Posix"],
                swiftSettings: common),
            .target(
                name: "ConfigurationFiles", dependencies: ["Policy", "Posix"], swiftSettings: common
            ),

            .target(
                name: "HTTP", dependencies: ["CGnuTLS", "CMicrohttpd", "Posix"],
                swiftSettings: common),
            .target(
                name: "HTTPClient", dependencies: ["CCurl", "Posix"], swiftSettings: common),
            .target(
                name: "Database", dependencies: ["CPostgreSQL", "CSQLite", "Posix"],
                swiftSettings: common),

            // Evidence that a person is there and that a finger matched: what keys open for.
            .target(
                name: "Gate",
                dependencies: [
                    "CommandMessages", "CommandProtocol", "LoginMessages", "LoginProtocol", "Loop",
                    "Policy", "Posix", "Systemd",
                ],
                swiftSettings: common),

            // What is kept on disk.
            .target(
                name: "Store",
                dependencies: [
                    "CommandProtocol", "Crypto", "LoginProtocol", "Policy", "Posix",
                    "SignedFormats", "Vault",
                ],
                swiftSettings: common),

            // What is wrong with a machine: it only looks.
            .target(
                name: "Doctor",
                dependencies: [
                    "CommandMessages", "CommandProtocol", "ConfigurationFiles", "LoginMessages",
                    "LoginProtocol", "ModuleOptions", "Policy", "Posix", "SignedFormats",
                ], swiftSettings: common),

            // The programs, as libraries.
            .target(
                name: "Daemon",
                dependencies: [
                    "Bus", "CommandMessages", "CommandProtocol", "ConfigurationFiles", "Crypto",
                    "Gate", "LoginMessages", "LoginProtocol", "Loop", "Password", "Policy", "Posix",
                    "ReaderProtocol", "SignedFormats", "Store", "Systemd", "Vault",
                ], swiftSettings: common),
            .target(
                name: "Control",
                dependencies: [
                    "CatalogueFiles", "CommandMessages", "CommandProtocol", "ConfigurationFiles",
                    "Crypto", "Doctor", "LoginMessages", "LoginProtocol", "Policy", "Posix",
                    "SignedFormats",
                ],
                swiftSettings: common),
            .target(
                name: "Notifier",
                dependencies: [
                    "Bus", "CatalogueFiles", "CommandMessages", "CommandProtocol", "LoginMessages",
                    "LoginProtocol", "Loop", "Posix",
                ],
                swiftSettings: common),
            // The only part with libfprint and the readers, as a library.
            .target(
                name: "ReaderProcess",
                dependencies: ["Loop", "Posix", "Reader", "ReaderProtocol", "Systemd"],
                swiftSettings: common),

            // The only part of the device with network, as a library.
            .target(
                name: "Relay",
                dependencies: [
                    "CommandProtocol", "ConfigurationFiles", "HTTPClient", "LoginProtocol",
                    "Policy", "Posix", "SignedFormats", "Systemd",
                ], swiftSettings: common),

            // The relying party, as a library.
            .target(
                name: "Server",
                dependencies: [
                    "ConfigurationFiles", "Crypto", "Database", "HTTP", "Policy", "Posix",
                    "SignedFormats", "Systemd",
                ], swiftSettings: common),

            // The programs.
            .executableTarget(
                name: "signetd", dependencies: ["Daemon", "Policy", "Posix"], swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "signet", dependencies: ["Control"], swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "signet-reader", dependencies: ["Policy", "Posix", "ReaderProcess"],
                swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "signet-relay", dependencies: ["Policy", "Posix", "Relay"],
                swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "signet-server", dependencies: ["Policy", "Posix", "Server"],
                swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "signet-notify", dependencies: ["Notifier"], swiftSettings: common,
                linkerSettings: installed),
            .executableTarget(
                name: "verify-password", dependencies: ["Password"], swiftSettings: common,
                linkerSettings: installed),

            // Tests mirror sources; Support, StoreSupport, Fingerprints and testbench are shared by
            // tests, demo, bench. Scopes is for tests alone.
            .target(name: "CTestSupport", path: "Tests/CTestSupport"),
            .target(name: "PlayedUSB", path: "Tests/PlayedUSB"),
            .target(
                name: "TestSupport",
                dependencies: ["CTestSupport", "CommandProtocol", "LoginProtocol", "Posix"],
                path: "Tests/Support", swiftSettings: common),
            .target(name: "TestScopes", path: "Tests/Scopes", swiftSettings: common),
            .target(
                name: "StoreSupport",
                dependencies: [
                    "CommandProtocol", "Crypto", "Gate", "LoginProtocol", "Loop", "Policy", "Posix",
                    "SignedFormats", "Store", "Systemd", "Vault",
                ],
                path: "Tests/StoreSupport", swiftSettings: common),
            .target(
                name: "ServerSupport",
                dependencies: ["Crypto", "Database", "HTTPClient", "Posix", "TestSupport"],
                path: "Tests/ServerSupport", swiftSettings: common),
            .target(
                name: "DatabaseSupport", dependencies: ["Database", "TestSupport"],
                path: "Tests/DatabaseSupport", swiftSettings: common),
            .target(
                name: "Fingerprints", path: "Tests/Fingerprints",
                swiftSettings: common + [.unsafeFlags(["-O"])]),
            .executableTarget(
                name: "testbench",
                dependencies: [
                    "CTestSupport", "CommandProtocol", "Daemon", "Fingerprints", "LoginProtocol",
                    "Posix", "TestSupport",
                ],
                path: "Tests/Testbench", swiftSettings: common),
            .executableTarget(
                name: "testreader", dependencies: ["CTestSupport", "Posix", "ReaderProcess"],
                path: "Tests/Testreader", swiftSettings: common),
            .executableTarget(
                name: "fingerprint-acceptance",
                dependencies: [
                    "CommandProtocol", "Fingerprints", "LoginProtocol", "Loop", "Reader",
                    "ReaderProtocol", "TestSupport",
                ],
                path: "Benchmarks/Acceptance", swiftSettings: common),
            .executableTarget(
                name: "bench",
                dependencies: [
                    "Crypto", "Database", "Gate", "HTTP", "Posix", "Server", "SignedFormats",
                    "Store", "StoreSupport", "TestSupport", "Vault",
                ],
                path: "Benchmarks/Bench", swiftSettings: common),
            .executableTarget(
                name: "database-writer", dependencies: ["Database"], path: "Tests/DatabaseWriter",
                swiftSettings: common),
            // In C: Signet's own half of the bus offers nothing there.
            .executableTarget(
                name: "mock-logind", dependencies: ["CGLib"], path: "Tests/MockLogind"),
            .executableTarget(
                name: "PAMModuleProbe", path: "Tests/PAMModuleProbe",
                linkerSettings: [.linkedLibrary("pam")]),
            .testTarget(
                name: "LoginProtocolTests",
                dependencies: ["CommandProtocol", "LoginProtocol", "TestSupport"],
                path: "Tests/LoginProtocol", swiftSettings: common),
            .testTarget(
                name: "CommandProtocolTests", dependencies: ["CommandProtocol", "LoginProtocol"],
                path: "Tests/CommandProtocol", swiftSettings: common),
            .testTarget(
                name: "SignedFormatsTests", dependencies: ["SignedFormats", "TestSupport"],
                path: "Tests/SignedFormats", swiftSettings: common),
            .testTarget(
                name: "LoginMessagesTests",
                dependencies: [
                    "CommandMessages", "CommandProtocol", "LoginMessages", "LoginProtocol",
                    "TestSupport",
                ],
                path: "Tests/LoginMessages", swiftSettings: common),
            .testTarget(
                name: "PolicyTests", dependencies: ["LoginProtocol", "Policy"],
                path: "Tests/Policy", swiftSettings: common),
            .testTarget(
                name: "PosixTests", dependencies: ["Posix", "TestSupport"],
                path: "Tests/Posix", swiftSettings: common),
            .testTarget(
                name: "CryptoTests",
                dependencies: ["Crypto", "Posix", "SignedFormats", "TestSupport"],
                path: "Tests/Crypto", swiftSettings: common),
            .testTarget(
                name: "SystemdTests", dependencies: ["Posix", "Systemd"],
                path: "Tests/Systemd", swiftSettings: common),
            .testTarget(
                name: "LoopTests", dependencies: ["Loop", "Posix"],
                path: "Tests/Loop", swiftSettings: common),
            .testTarget(
                name: "BusTests", dependencies: ["Bus", "CTestSupport", "Loop", "TestSupport"],
                path: "Tests/Bus", swiftSettings: common),
            .testTarget(
                name: "ReaderTests",
                dependencies: [
                    "CTestSupport", "CommandProtocol", "LoginProtocol", "Loop", "Reader",
                    "ReaderProtocol", "TestSupport",
                ],
                path: "Tests/Reader", swiftSettings: common),
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
                name: "PasswordTests",
                dependencies: ["Password", "TestSupport", "verify-password"],
                path: "Tests/Password", swiftSettings: common),
            .testTarget(
                name: "TPMTests", dependencies: ["Crypto", "Posix", "TPM", "TestSupport"],
                path: "Tests/TPM", swiftSettings: common),
            .testTarget(
                name: "VaultTests",
                dependencies: [
                    "CommandMessages", "Crypto", "LoginMessages", "Posix", "StoreSupport",
                    "TestSupport", "Vault",
                ],
                path: "Tests/Vault", swiftSettings: common),
            .testTarget(
                name: "StoreTests",
                dependencies: [
                    "CommandMessages", "CommandProtocol", "Crypto", "Doctor", "LoginMessages",
                    "LoginProtocol", "Policy", "Posix", "SignedFormats", "Store", "StoreSupport",
                    "TestSupport", "Vault",
                ], path: "Tests/Store", swiftSettings: common),
            .testTarget(
                name: "DaemonTests",
                dependencies: [
                    "CommandMessages", "CommandProtocol", "Control", "Crypto", "Daemon", "Gate",
                    "LoginMessages", "LoginProtocol", "Loop", "Policy", "Posix", "ReaderProtocol",
                    "Relay", "ServerSupport", "SignedFormats", "Store", "StoreSupport", "Systemd",
                    "TestScopes", "TestSupport", "Vault", "signet-relay", "signet-server",
                    "testbench", "testreader",
                ], path: "Tests/Daemon", swiftSettings: common),
            .testTarget(
                name: "GateTests",
                dependencies: [
                    "CommandMessages", "CommandProtocol", "Gate", "LoginMessages",
                    "LoginProtocol", "Loop", "Policy", "Posix", "Systemd", "TestSupport",
                ],
                path: "Tests/Gate", swiftSettings: common),
            .testTarget(
                name: "DoctorTests",
                dependencies: [
                    "CommandMessages", "CommandProtocol", "Doctor", "LoginMessages",
                    "LoginProtocol", "Policy", "Posix", "TestSupport",
                ],
                path: "Tests/Doctor", swiftSettings: common),
            .testTarget(
                name: "ControlTests",
                dependencies: [
                    "CatalogueFiles", "CommandMessages", "CommandProtocol", "Control", "Crypto",
                    "Doctor", "LoginMessages", "LoginProtocol", "ModuleOptions", "Policy", "Posix",
                    "SignedFormats", "TestSupport", "signet",
                ], path: "Tests/Control", swiftSettings: common),
            .testTarget(
                name: "PAMModuleTests",
                dependencies: [
                    "CommandProtocol", "Crypto", "LoginProtocol", "ModuleOptions", "Posix",
                    "SignedFormats", "TestSupport", "PAMModuleProbe",
                ],
                path: "Tests/PAMModule", swiftSettings: common),
            .testTarget(
                name: "HTTPTests",
                dependencies: ["HTTP", "HTTPClient", "Posix", "TestScopes", "TestSupport"],
                path: "Tests/HTTP", swiftSettings: common),
            .testTarget(
                name: "DatabaseTests",
                dependencies: [
                    "Database", "DatabaseSupport", "Posix", "TestSupport", "database-writer",
                ],
                path: "Tests/Database", swiftSettings: common),
            .testTarget(
                name: "RelayTests",
                dependencies: [
                    "CommandProtocol", "Crypto", "HTTP", "HTTPClient", "LoginProtocol", "Posix",
                    "Relay", "ServerSupport", "SignedFormats", "TestSupport", "signet-relay",
                    "signet-server",
                ], path: "Tests/Relay", swiftSettings: common),
            .testTarget(
                name: "ServerTests",
                dependencies: [
                    "Crypto", "Database", "DatabaseSupport", "HTTP", "HTTPClient", "ModuleOptions",
                    "Policy", "Posix", "Server", "SignedFormats", "TestSupport", "signet-server",
                ], path: "Tests/Server", exclude: ["Judges"], swiftSettings: common),
            .testTarget(
                name: "FingerprintsTests", dependencies: ["Fingerprints"],
                path: "Tests/FingerprintsTests", swiftSettings: common),
            .testTarget(
                name: "SupportTests", dependencies: ["TestSupport"],
                path: "Tests/SupportTests", swiftSettings: common),
            .testTarget(
                name: "SystemTests",
                dependencies: [
                    "CommandProtocol", "Fingerprints", "LoginProtocol", "Posix", "ServerSupport",
                    "TestSupport", "signet", "signet-relay", "signet-server", "testbench",
                    "testreader", "verify-password",
                ], path: "Tests/System", swiftSettings: common),
        ],
        cLanguageStandard: .c17
    )
}

// `make module` sets it. A target is compiled in one way at a time, so the two builds are apart, each with
// a scratch path of its own.
let package = Context.environment["SIGNET_MODULE"] == nil ? programs() : module()
