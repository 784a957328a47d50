import TestSupport

/// pam_signet and signetd.
///
/// Not written yet: it needs the built module and the test bench's daemon. Until then the table
/// says `not measured`.
enum SignetPeer {
    /// Sets it up on the stage and enrols alice; nil while there is nothing to set up.
    static func make(on stage: Stage) throws -> (any Peer)? { nil }
}
