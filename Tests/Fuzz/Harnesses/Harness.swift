// SPDX-License-Identifier: Apache-2.0
import Domain

/// One decoder under garbage.
protocol Harness: SendableMetatype {
    /// The name it is run by.
    static var name: String { get }
    /// Inputs to begin with: good ones, and bad ones that get far.
    static var seeds: [[UInt8]] { get }
    /// Feeds the decoder; a trap or a `require` that does not hold is a finding.
    static func feed(_ bytes: [UInt8])
}

/// Ends the process, as a finding, unless the claim holds.
func require(_ claim: Bool, _ text: StaticString) {
    if !claim { fatalError("\(text)") }
}

func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }
