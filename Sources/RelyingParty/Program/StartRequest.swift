// SPDX-License-Identifier: Apache-2.0
/// How a server is to start: what the command line says.
struct StartRequest: Sendable {
    /// The path of the settings.
    let configuration: String
    /// Whether the server may begin with an empty database beside an existing master secret
    /// (`FirstStart`).
    var acceptsNew = false
    /// The directory in which a server is tried out; nil for any other server.
    ///
    /// Such a server takes no socket from systemd, and selects a free port if its own is taken.
    var trial: TrialDirectory?
}
