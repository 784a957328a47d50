import ModuleOptions
import Policy
import Texts
import Wire

extension Machine {
    /// What is wrong with the files behind `server=`: who may write them, and what they say.
    func serverFileFindings(_ examination: StackExamination) -> [Finding] {
        var findings: [Finding] = []
        for (path, services) in examination.serverFiles {
            // One that only root reads is nobody's loss where the module runs as root.
            findings += check(path, .publicFile).filter { $0.code != .fileUnreadable }
            findings += checkParents(of: path)
            guard let place = mistake(in: path) else { continue }
            findings.append(
                .serverFile(
                    services: StackExamination.list(services), place: place.bytes,
                    file: path.bytes))
        }
        return findings
    }

    /// Where the file's mistake is: its path, or path and line; nil where it has none, or nobody but
    /// root can tell.
    private func mistake(in path: String) -> String? {
        guard look(path) != nil else { return path }
        guard let text = read(path, cap: LoginServer.maximumLength + 1) else {
            return isRoot ? path : nil
        }
        do throws(LoginServer.Fault) {
            let server = try LoginServer(parsing: text)
            // As the daemon wants it, which asks there.
            return ServerURL(server.url) == nil ? path : nil
        } catch {
            switch error {
            case .line(let line): return "\(path):\(line)"
            case .tooLong, .missing: return path
            }
        }
    }
}
