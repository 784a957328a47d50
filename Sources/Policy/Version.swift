/// The version of this program, for people.
package enum Version {
    /// As `signet --version` shows it.
    package static let text = "0.1.0"
}
