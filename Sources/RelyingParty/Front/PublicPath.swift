// SPDX-License-Identifier: Apache-2.0
import Authorization
import Configuration
import HTTPServer

/// The path of the server's public URL, below which its calls lie for everybody else.
///
/// A reverse proxy keeps it on the requests or removes it. Only one of the two is understood, so that
/// each call has exactly one path, and a filter in the proxy cannot be bypassed by another. A device
/// signs the path that it called, with the prefix.
struct PublicPath: Sendable {
    /// No path: requests arrive as they were sent.
    static let none = PublicPath(prefix: "", isKept: false)

    /// The path without a slash at its end; usually empty.
    private let prefix: String
    private let isKept: Bool

    private init(prefix: String, isKept: Bool) {
        self.prefix = prefix
        self.isKept = isKept
    }

    /// The path of `url`, which requests have when they arrive if `isKept`.
    init(of url: CanonicalServerURL, isKept: Bool) {
        self.init(prefix: url.path, isKept: isKept)
    }

    /// A request as it would arrive without a proxy at a server without a path: `path` is the call's
    /// own, and `target` what the caller of the public URL sent.
    ///
    /// - Throws: `.notFound` for a request that has the path where it is removed, or lacks it.
    func unproxied(_ request: HTTPRequest) throws(Problem) -> HTTPRequest {
        guard !prefix.isEmpty else { return request }
        guard isBelow(request.path) == isKept else { throw .otherPath }
        return HTTPRequest(
            method: request.method, target: isKept ? request.target : prefix + request.target,
            path: isKept
                ? String(decoding: request.path.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
                : request.path,
            query: request.query, headers: request.headers, body: request.body, peer: request.peer)
    }

    /// What of the settings for a path is likely a mistake, though the server starts; nil for nothing.
    static func doubt(_ settings: Configuration) -> String? {
        let hasPath = CanonicalServerURL(typed: settings.word(ServerSettings.url))?.path != ""
        let isKept = settings.word(ServerSettings.path) == "kept"
        if isKept, !hasPath {
            return "listen.path = kept has no effect, because server.url has no path"
        }
        let isDirect =
            settings.word(ServerSettings.certificate) != "none"
            && settings.word(ServerSettings.proxy) == "none"
        guard hasPath, !isKept, isDirect else { return nil }
        return """
            server.url has a path and listen.path says that a proxy removes it, but the server has its \
            own certificate and trusts no proxy: without a proxy, set listen.path = kept
            """
    }

    private func isBelow(_ path: String) -> Bool {
        path.utf8.starts(with: prefix.utf8)
            && path.utf8.dropFirst(prefix.utf8.count).first == UInt8(ascii: "/")
    }
}

extension Problem {
    /// The proxy does with the path what the settings do not say.
    fileprivate static let otherPath = Problem(
        status: 404, code: "not-found",
        title: "there is nothing here: does 'listen.path' say what the proxy does with paths?")
}
