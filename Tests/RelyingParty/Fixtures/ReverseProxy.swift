// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// A real reverse proxy in front of a server's process, on a port of this machine.
final class ReverseProxy: CalledServer, Sendable {
    private let server: ServerProcess
    private let path: String
    private let port: UInt16
    private let scratch: Scratch
    private let program: Program

    var time: RealTime { server.time }

    /// Starts one that passes on to `server` what is below `path`, by an example of
    /// docs/admin/SERVER-OPERATE.md.
    init(_ example: String, before server: ServerProcess, path: String) throws {
        self.server = server
        self.path = path
        scratch = try Scratch()
        port = try freePort()
        let place = "127.0.0.1:\(port)"
        let example = example.replacing("127.0.0.1:8443", with: "127.0.0.1:\(server.port)")
        let environment = ["LD_LIBRARY_PATH": try Layout.unpackedLibraries()]
        if example.contains("proxy_pass") {
            try scratch.write(
                "nginx.conf",
                """
                daemon off; user root; pid \(scratch.at("pid")); error_log stderr notice;
                events {}
                http {
                    access_log off;
                    client_body_temp_path \(scratch.at("body"));
                    proxy_temp_path \(scratch.at("proxy"));
                    fastcgi_temp_path \(scratch.at("fastcgi"));
                    uwsgi_temp_path \(scratch.at("uwsgi"));
                    scgi_temp_path \(scratch.at("scgi"));
                    server { listen \(place); \(example) }
                }
                """)
            program = try Program(
                Command(
                    ["\(Layout.unpacked)/usr/sbin/nginx", "-c", scratch.at("nginx.conf")],
                    environment: environment))
            try program.expectError("start worker processes")
        } else {
            let bound = example.replacing(#/bind .*/#, with: "bind \(place)")
            try scratch.write(
                "haproxy.cfg",
                """
                defaults
                    mode http
                    timeout connect 10s
                    timeout client 60s
                    timeout server 60s
                \(bound)

                """)
            program = try Program(
                Command(
                    ["\(Layout.unpacked)/usr/sbin/haproxy", "-W", "-f", scratch.at("haproxy.cfg")],
                    environment: environment))
            try program.expectError("Loading success")
        }
    }

    deinit {
        program.signal(SIGTERM)
        _ = try? program.expectEnd(within: .seconds(10))
    }

    func send(
        _ method: String, _ path: String, _ body: [String: Any]?, key: String?,
        headers: [(name: String, value: String)], from peer: String
    ) async throws -> Reply {
        try await server.send(
            method, self.path + path, body, key: key, headers: headers, from: peer, at: port)
    }

    func ask(_ method: String, _ path: String, _ body: [String: Any]?) async throws -> Reply {
        try await send(method, path, body, key: server.apiKey, headers: [], from: "")
    }
}
