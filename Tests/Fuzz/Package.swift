// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// A package of its own, so that nothing that is installed or tested is built with the fuzzer in it.
// `Sources` is the real one, by a symbolic link: `package` declarations can be reached from here.

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
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CGLib", pkgConfig: "gio-unix-2.0"),
        .systemLibrary(name: "CFprint", pkgConfig: "libfprint-2 gio-unix-2.0 gusb"),
        .systemLibrary(name: "CTSS", pkgConfig: "tss2-esys tss2-sys tss2-tctildr tss2-mu tss2-rc"),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd"),
        .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd"),
        .systemLibrary(name: "CGnuTLS", pkgConfig: "gnutls"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq"),
        .target(name: "LoginProtocol", swiftSettings: common),
        .target(name: "SignedFormats", swiftSettings: common),
        .target(
            name: "LoginMessages", dependencies: ["LoginProtocol", "SignedFormats"],
            swiftSettings: common),
        .target(
            name: "ModuleOptions", dependencies: ["LoginProtocol", "SignedFormats"],
            swiftSettings: common),
        .target(
            name: "CommandProtocol", dependencies: ["LoginProtocol", "SignedFormats"],
            swiftSettings: common),
        .target(
            name: "CommandMessages",
            dependencies: ["CommandProtocol", "LoginMessages", "LoginProtocol", "SignedFormats"],
            swiftSettings: common),
        .target(
            name: "Policy", dependencies: ["LoginProtocol", "SignedFormats"], swiftSettings: common),
        .target(
            name: "Gate",
            dependencies: [
                "CommandMessages", "LoginMessages", "LoginProtocol", "Loop", "Policy", "Posix",
                "Systemd",
            ], swiftSettings: common),
        .target(name: "Posix", dependencies: ["CLinux"], swiftSettings: common),
        .target(
            name: "Crypto", dependencies: ["COpenSSL", "Posix", "SignedFormats"],
            swiftSettings: common),
        .target(name: "Loop", dependencies: ["CGLib", "Posix"], swiftSettings: common),
        .target(name: "Bus", dependencies: ["CGLib", "Loop", "Posix"], swiftSettings: common),
        .target(
            name: "ReaderProtocol", dependencies: ["CGLib", "LoginProtocol"], swiftSettings: common),
        .target(
            name: "Reader",
            dependencies: ["CFprint", "LoginProtocol", "Loop", "Posix", "ReaderProtocol"],
            swiftSettings: common),
        .target(name: "TPM", dependencies: ["CTSS", "Crypto", "Posix"], swiftSettings: common),
        .target(
            name: "Vault", dependencies: ["Crypto", "Gate", "Posix", "SignedFormats", "TPM"],
            swiftSettings: common),
        .target(
            name: "Store",
            dependencies: [
                "CommandProtocol", "Crypto", "LoginProtocol", "Policy", "Posix", "SignedFormats",
                "Vault",
            ],
            swiftSettings: common),
        .target(
            name: "CatalogueFiles", dependencies: ["LoginMessages", "LoginProtocol", "Posix"],
            swiftSettings: common),
        .target(
            name: "ConfigurationFiles", dependencies: ["Policy", "Posix"], swiftSettings: common),
        .target(
            name: "Doctor",
            dependencies: [
                "CommandMessages", "CommandProtocol", "ConfigurationFiles", "LoginMessages",
                "LoginProtocol", "ModuleOptions", "Policy", "Posix", "SignedFormats",
            ], swiftSettings: common),
        .target(
            name: "Control",
            dependencies: [
                "CatalogueFiles", "CommandMessages", "CommandProtocol", "ConfigurationFiles",
                "Crypto", "Doctor", "LoginMessages", "LoginProtocol", "Policy", "Posix",
                "SignedFormats",
            ],
            swiftSettings: common),
        .target(name: "Systemd", dependencies: ["CSystemd", "Posix"], swiftSettings: common),
        .target(
            name: "HTTP", dependencies: ["CGnuTLS", "CMicrohttpd", "Posix"], swiftSettings: common),
        .target(
            name: "Database", dependencies: ["CPostgreSQL", "CSQLite", "Posix"],
            swiftSettings: common),
        .target(
            name: "Server",
            dependencies: [
                "ConfigurationFiles", "Crypto", "Database", "HTTP", "Policy", "Posix",
                "SignedFormats", "Systemd",
            ], swiftSettings: common),
        .executableTarget(
            name: "harnesses",
            dependencies: [
                "Bus", "CGLib", "CommandProtocol", "Control", "Crypto", "Doctor", "HTTP",
                "LoginMessages", "LoginProtocol", "Loop", "ModuleOptions", "Policy", "Reader",
                "ReaderProtocol", "Server", "SignedFormats", "Store", "TPM", "Vault",
            ],
            path: "Harnesses",
            swiftSettings: common + [.unsafeFlags(["-parse-as-library"])]),
    ]
)
