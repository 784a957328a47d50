// SPDX-License-Identifier: Apache-2.0
/// The reason why the name of a TPM transport (TCTI) is not accepted.
package enum TCTINameFault: Error, Equatable, Sendable {
    /// The name is empty, longer than 200 bytes, or contains a space or a byte that is not
    /// printable ASCII.
    case form
    /// The transport is not `device`, `swtpm` or `tabrmd`; some of the others would start programs.
    case kind
    /// The transport is allowed, but the part after its colon is not, for this reason.
    case configuration(String)
}

/// The name of a TPM transport (TCTI), as an administrator writes it in the configuration.
///
/// It is checked before any library is loaded or any device opened, because tpm2-tss loads the
/// library that a TCTI names. Accepted are `auto`, `device:/dev/…`, `swtpm:path=/…`, `swtpm:port=…`
/// with an optional `host=` of this machine, and `tabrmd:` on the system bus.
package struct TCTIName: Equatable, Sendable {
    /// The kernel's resource manager for the first TPM, which is what `auto` means.
    package static let standard = TCTIName(
        library: .device, configuration: "/dev/tpmrm0", path: "/dev/tpmrm0", isManaged: true)

    /// The library of the transport, by its file name for the dynamic linker.
    enum Library: String {
        case device = "libtss2-tcti-device.so.0"
        case swtpm = "libtss2-tcti-swtpm.so.0"
        case tabrmd = "libtss2-tcti-tabrmd.so.0"
    }

    let library: Library
    let configuration: String
    /// The path of the device node or socket; nil if there is none.
    let path: String?
    /// Whether a resource manager is in between, which flushes the objects of a process that was
    /// killed.
    package let isManaged: Bool

    private init(library: Library, configuration: String, path: String?, isManaged: Bool) {
        self.library = library
        self.configuration = configuration
        self.path = path
        self.isManaged = isManaged
    }

    /// Parses a name; throws a `TCTINameFault` for every form that the type does not list.
    package static func parse(_ text: String) throws(TCTINameFault) -> TCTIName {
        guard (1...200).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { throw .form }
        if text == "auto" { return standard }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .kind }
        let rest = String(text[text.utf8.index(after: colon)...])
        switch text[..<colon] {
        case "device": return try device(rest)
        case "swtpm": return try swtpm(rest)
        case "tabrmd": return try tabrmd(rest)
        default: throw .kind
        }
    }

    private static func device(_ path: String) throws(TCTINameFault) -> TCTIName {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0].isEmpty, parts[1] == "dev",
            parts.dropFirst(2).allSatisfy({ isPlain($0) })
        else { throw .configuration("a path below /dev is wanted") }
        // Only /dev/tpm0 and the like are known to have no resource manager; others may be shared.
        let isBare =
            parts.count == 3 && parts[2].hasPrefix("tpm")
            && parts[2].utf8.dropFirst(3).allSatisfy({ (0x30...0x39).contains($0) })
        return TCTIName(
            library: .device, configuration: path, path: path, isManaged: !isBare)
    }

    private static func swtpm(_ text: String) throws(TCTINameFault) -> TCTIName {
        let values = try settings(text, known: ["path", "host", "port"])
        if let path = values["path"] {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            guard values.count == 1, parts.count >= 2, parts[0].isEmpty,
                parts.dropFirst().allSatisfy({ isPlain($0) })
            else { throw .configuration("an absolute path and nothing else is wanted") }
            return TCTIName(library: .swtpm, configuration: text, path: path, isManaged: false)
        }
        guard let port = values["port"].flatMap({ UInt16($0) }), port > 0,
            ["127.0.0.1", "localhost", nil].contains(values["host"])
        else { throw .configuration("path=, or port= on this machine, is wanted") }
        return TCTIName(library: .swtpm, configuration: text, path: nil, isManaged: false)
    }

    private static func tabrmd(_ text: String) throws(TCTINameFault) -> TCTIName {
        let values = text.isEmpty ? [:] : try settings(text, known: ["bus_name", "bus_type"])
        guard values["bus_type"] ?? "system" == "system",
            isPlain((values["bus_name"] ?? "com.intel.tss2.Tabrmd")[...])
        else { throw .configuration("only the system bus has a broker that is trusted") }
        return TCTIName(library: .tabrmd, configuration: text, path: nil, isManaged: true)
    }

    private static func settings(
        _ text: String, known: Set<String>
    ) throws(TCTINameFault) -> [String: String] {
        var values: [String: String] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, !halves[1].isEmpty, known.contains(String(halves[0])),
                values.updateValue(String(halves[1]), forKey: String(halves[0])) == nil
            else { throw .configuration("\(part) is unknown, empty or there twice") }
        }
        return values
    }

    /// Whether this is a plain path component or bus name: ASCII letters, digits, `-`, `.` and `_`,
    /// but not `.` or `..`.
    private static func isPlain(_ part: Substring) -> Bool {
        !part.isEmpty && part != "." && part != ".."
            && part.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
                    || (0x61...0x7a).contains(byte) || [0x2d, 0x2e, 0x5f].contains(byte)
            }
    }
}

extension TCTIName: CustomStringConvertible {
    /// The name as an administrator would write it, with the transport spelled out.
    package var description: String {
        switch library {
        case .device: "device:" + configuration
        case .swtpm: "swtpm:" + configuration
        case .tabrmd: "tabrmd:" + configuration
        }
    }
}

extension TCTINameFault: CustomStringConvertible {
    /// A message of one line without a full stop.
    package var description: String {
        switch self {
        case .form: "not 1 to 200 printable characters without a space"
        case .kind: "not one of auto, device:, swtpm:, tabrmd:"
        case .configuration(let why): why
        }
    }
}
