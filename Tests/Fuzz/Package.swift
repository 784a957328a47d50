// SPDX-License-Identifier: Apache-2.0
// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nothing that is installed or tested is built with the fuzzer in it.
// `Sources`, `Plugins`, `FrameSamples` and `Values` are the real ones, by symbolic links: `package`
// declarations can be reached from here.

/// As in ../../Package.swift, and with what `@testable` needs.
let common: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .unsafeFlags([
        "-enable-testing", "-Xllvm", "-sil-disable-pass=dead-store-elimination",
    ]),
]

let package = Package(
    name: "fuzz",
    targets: [
        .plugin(name: "Listing", capability: .buildTool(), path: "Plugins/Listing"),
        .systemLibrary(name: "CLinux", path: "Sources/C/CLinux"),
        .systemLibrary(name: "COpenSSL", path: "Sources/C/COpenSSL", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CGLib", path: "Sources/C/CGLib", pkgConfig: "gio-unix-2.0"),
        .systemLibrary(
            name: "CFprint", path: "Sources/C/CFprint", pkgConfig: "libfprint-2 gio-unix-2.0 gusb"),
        .systemLibrary(
            name: "CTSS", path: "Sources/C/CTSS",
            pkgConfig: "tss2-esys tss2-sys tss2-tctildr tss2-mu tss2-rc"),
        .systemLibrary(name: "CSystemd", path: "Sources/C/CSystemd", pkgConfig: "libsystemd"),
        .systemLibrary(name: "CCurl", path: "Sources/C/CCurl", pkgConfig: "libcurl"),
        .systemLibrary(
            name: "CMicrohttpd", path: "Sources/C/CMicrohttpd", pkgConfig: "libmicrohttpd"),
        .systemLibrary(name: "CGnuTLS", path: "Sources/C/CGnuTLS", pkgConfig: "gnutls"),
        .systemLibrary(name: "CSQLite", path: "Sources/C/CSQLite", pkgConfig: "sqlite3"),
        .systemLibrary(name: "CPostgreSQL", path: "Sources/C/CPostgreSQL", pkgConfig: "libpq"),
        .target(name: "Domain", path: "Sources/Shared/Domain", swiftSettings: common),
        .target(
            name: "LoginProtocol", dependencies: ["Domain"], path: "Sources/Shared/LoginProtocol",
            swiftSettings: common),
        .target(
            name: "SignedFormats", dependencies: ["Domain"], path: "Sources/Shared/SignedFormats",
            swiftSettings: common),
        .target(
            name: "JSONFormat", dependencies: ["SignedFormats"], path: "Sources/Shared/JSONFormat",
            swiftSettings: common),
        .target(
            name: "ServerAPI", dependencies: ["Domain", "SignedFormats"],
            path: "Sources/Shared/ServerAPI", swiftSettings: common),
        .target(
            name: "SSHProtocol", dependencies: ["Domain", "LoginProtocol", "SignedFormats"],
            path: "Sources/Shared/SSHProtocol", swiftSettings: common),
        .target(
            name: "LoginMessages",
            dependencies: ["Domain", "LoginProtocol", "SSHProtocol", "SignedFormats"],
            path: "Sources/Shared/LoginMessages",
            swiftSettings: common),
        .target(
            name: "ModuleOptions", dependencies: ["Domain", "LoginProtocol", "SignedFormats"],
            path: "Sources/Shared/ModuleOptions",
            swiftSettings: common),
        .target(
            name: "CommandProtocol",
            dependencies: ["Domain", "LoginProtocol", "SSHProtocol", "SignedFormats"],
            path: "Sources/Device/CommandProtocol",
            swiftSettings: common, plugins: ["Listing"]),
        .target(
            name: "SSHAgentProtocol", dependencies: ["Domain", "SignedFormats"],
            path: "Sources/Device/SSHAgentProtocol", swiftSettings: common),
        .target(
            name: "CommandMessages",
            dependencies: [
                "CommandProtocol", "Domain", "LoginMessages", "LoginProtocol", "SSHProtocol",
                "SignedFormats",
            ],
            path: "Sources/Device/CommandMessages",
            swiftSettings: common),
        .target(
            name: "Configuration", path: "Sources/Device/Configuration", swiftSettings: common),
        .target(
            name: "ArgumentSyntax",
            dependencies: ["LoginMessages", "LoginProtocol", "SignedFormats"],
            path: "Sources/Device/ArgumentSyntax", swiftSettings: common),
        .target(
            name: "Authorization",
            dependencies: ["Configuration", "Domain", "LoginProtocol", "SignedFormats"],
            path: "Sources/Device/Authorization", swiftSettings: common),
        .target(
            name: "Gate",
            dependencies: [
                "CommandMessages", "CommandProtocol", "Configuration", "Domain", "LoginMessages",
                "LoginProtocol", "MainContext", "Posix", "Systemd",
            ], path: "Sources/Device/Gate", swiftSettings: common),
        .target(
            name: "Posix", dependencies: ["CLinux"], path: "Sources/System/Posix",
            swiftSettings: common),
        .target(
            name: "Crypto", dependencies: ["COpenSSL", "Domain", "Posix", "SignedFormats"],
            path: "Sources/System/Crypto",
            swiftSettings: common),
        .target(
            name: "MainContext", dependencies: ["CGLib", "Posix"],
            path: "Sources/System/MainContext", swiftSettings: common),
        .target(
            name: "DBus", dependencies: ["CGLib", "MainContext", "Posix"],
            path: "Sources/System/DBus", swiftSettings: common),
        .target(
            name: "ReaderProtocol", dependencies: ["CGLib", "LoginProtocol"],
            path: "Sources/Device/ReaderProtocol", swiftSettings: common),
        .target(
            name: "FingerprintReader",
            dependencies: ["CFprint", "LoginProtocol", "MainContext", "Posix", "ReaderProtocol"],
            path: "Sources/System/FingerprintReader",
            swiftSettings: common),
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
            name: "State",
            dependencies: [
                "Authorization", "CommandProtocol", "Crypto", "Domain", "LoginProtocol", "Posix",
                "Sealing", "SignedFormats",
            ], path: "Sources/Device/State",
            swiftSettings: common),
        .target(
            name: "CatalogueFiles", dependencies: ["LoginMessages", "LoginProtocol", "Posix"],
            path: "Sources/Device/CatalogueFiles",
            swiftSettings: common),
        .target(
            name: "ConfigurationFiles", dependencies: ["Configuration", "Posix"],
            path: "Sources/Device/ConfigurationFiles", swiftSettings: common),
        .target(
            name: "Doctor",
            dependencies: [
                "Authorization", "CommandMessages", "CommandProtocol", "Configuration",
                "ConfigurationFiles", "Domain", "LoginMessages", "LoginProtocol", "ModuleOptions",
                "Posix", "SignedFormats",
            ], path: "Sources/Device/Doctor", swiftSettings: common),
        .target(
            name: "Command",
            dependencies: [
                "ArgumentSyntax", "Authorization", "CatalogueFiles", "CommandMessages",
                "CommandProtocol", "Configuration", "ConfigurationFiles", "Crypto", "Doctor",
                "Domain", "JSONFormat", "LoginMessages", "LoginProtocol", "Posix", "SSHProtocol",
                "SignedFormats",
            ], path: "Sources/Device/Command",
            swiftSettings: common, plugins: ["Listing"]),
        .target(
            name: "Systemd", dependencies: ["CSystemd", "Posix"], path: "Sources/System/Systemd",
            swiftSettings: common),
        .target(
            name: "HTTPClient", dependencies: ["CCurl", "Posix"],
            path: "Sources/System/HTTPClient", swiftSettings: common),
        .target(
            name: "HTTPServer", dependencies: ["CGnuTLS", "CMicrohttpd", "Posix"],
            path: "Sources/System/HTTPServer", swiftSettings: common),
        .target(
            name: "SQL", dependencies: ["CPostgreSQL", "CSQLite", "Posix"],
            path: "Sources/System/SQL",
            swiftSettings: common),
        .target(
            name: "RelyingParty",
            dependencies: [
                "ArgumentSyntax", "Authorization", "Configuration", "ConfigurationFiles", "Crypto",
                "Domain", "HTTPClient", "HTTPServer", "JSONFormat", "LoginMessages", "Posix", "SQL",
                "ServerAPI", "SignedFormats", "Systemd", "TPMStructures",
            ], path: "Sources/RelyingParty", swiftSettings: common),
        // What the tests use, too.
        .target(
            name: "TestSupport", dependencies: ["Domain"], path: "Values", swiftSettings: common),
        .target(
            name: "FrameSamples",
            dependencies: [
                "CommandProtocol", "Domain", "LoginProtocol", "SSHProtocol", "SignedFormats",
                "TestSupport",
            ],
            path: "FrameSamples", swiftSettings: common, plugins: ["Listing"]),
        .executableTarget(
            name: "harnesses",
            dependencies: [
                "ArgumentSyntax", "Authorization", "CGLib", "Command", "CommandProtocol",
                "Configuration", "Crypto", "DBus", "Doctor", "Domain", "FingerprintReader",
                "FrameSamples", "HTTPServer", "JSONFormat", "LoginMessages", "LoginProtocol",
                "MainContext",
                "ModuleOptions", "ReaderProtocol", "RelyingParty", "SSHAgentProtocol",
                "SSHProtocol",
                "Sealing",
                "SignedFormats",
                "State", "TPM", "TPMStructures", "TestSupport",
            ],
            path: "Harnesses",
            swiftSettings: common + [.unsafeFlags(["-parse-as-library"])]),
    ]
)
