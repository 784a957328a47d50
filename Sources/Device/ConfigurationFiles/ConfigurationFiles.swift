// SPDX-License-Identifier: Apache-2.0
import Configuration
import Posix

/// Loads the configuration from disk.
///
/// A file that users other than root, and the allowed owner, could have written is rejected; see
/// `TrustedFile`.
package enum ConfigurationFiles {
    /// Reads a configuration file, then its drop-ins `FILE.d/*.conf` in the order of their names.
    ///
    /// A later file overrides an earlier one. Missing files are not errors. One file that is
    /// rejected, or that contains a mistake, makes the whole load fail.
    ///
    /// - Parameter owner: A uid that may own the files, besides root.
    /// - Throws: The first fault, with file and line; line 0 for a file that cannot be read or is
    ///   not trusted.
    package static func load(
        _ file: String, table: [Setting] = Settings.all, owner: UInt32 = 0
    ) throws(ConfigurationFault) -> Configuration {
        var texts: [(name: String, text: [UInt8])] = []
        for path in [file] + (try dropIns(file + ".d", owner: owner)) {
            do throws(FileFault) {
                let text = try TrustedFile.read(
                    path, owner: owner, cap: Configuration.maximumFileLength)
                texts.append((path, text))
            } catch {
                if error.isMissing { continue }
                throw ConfigurationFault(file: path, line: 0, problem: error.description)
            }
        }
        return try Configuration(table, files: texts)
    }

    private static func dropIns(
        _ path: String, owner: UInt32
    ) throws(ConfigurationFault) -> [String] {
        do throws(FileFault) {
            // Hidden files are editors' own. Any other name counts, since a file that is passed over
            // may be the one that forbids something.
            let names = try Directory.open(path, owner: owner).listAll()
            return names.filter { $0.hasSuffix(".conf") && !$0.hasPrefix(".") }
                .map { "\(path)/\($0)" }
        } catch {
            if error.isMissing { return [] }
            throw ConfigurationFault(file: path, line: 0, problem: error.description)
        }
    }
}
