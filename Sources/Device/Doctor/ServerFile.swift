// SPDX-License-Identifier: Apache-2.0
import Authorization
import LoginProtocol
import ModuleOptions

/// The content of a file that `server=` refers to, as the module would read it.
enum ServerFile: Sendable {
    /// The server, whose URL is in canonical form.
    case server(LoginServer)
    /// The file has a mistake at this place, `path` or `path:line`, or does not exist.
    case mistake(place: String)

    /// Reads a file; nil if the caller cannot know, because only root may read it.
    init?(_ path: String, on machine: Machine) {
        let files = machine.files
        guard files.exists(path) else {
            guard machine.isRoot || files.isMissing(path) else { return nil }
            self = .mistake(place: path)
            return
        }
        guard let text = files.read(path, cap: LoginServer.maximumLength + 1) else {
            guard machine.isRoot else { return nil }
            self = .mistake(place: path)
            return
        }
        do throws(LoginServer.Fault) {
            let server = try LoginServer(parsing: text)
            // The daemon contacts the server, and accepts only this form of URL.
            let isCanonical = CanonicalServerURL(server.url) != nil
            self = isCanonical ? .server(server) : .mistake(place: path)
        } catch {
            switch error {
            case .line(let line): self = .mistake(place: "\(path):\(line)")
            case .tooLong, .missing: self = .mistake(place: path)
            }
        }
    }
}
