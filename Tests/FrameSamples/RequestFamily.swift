// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// What the tests know of the requests of one file of `Sources/Device/CommandProtocol`.
///
/// A new family is a file in `Families`: the build lists every type of this protocol. A test fails
/// for a request without an expectation or a sample, and for an answer without a sample.
package protocol RequestFamily: SendableMetatype {
    /// What must hold for each request; one for each.
    static var expectations: [RequestExpectation] { get }
    /// One value of every request, and the extremes of those that have optional fields.
    static var requests: [Request] { get }
    /// The same of the answers that only this family has.
    static var answers: [Answer] { get }
}

extension RequestFamily {
    package static var answers: [Answer] { [] }

    /// The account of the samples.
    package static var account: AccountName { "alice" }
    /// A value of 32 different bytes.
    package static var thirtyTwo: Bytes { Bytes(0..<32) }
}

extension Field {
    /// All fields with their names, in the order in which they stand in frames.
    package static let allNamed = Listed.fields.sorted { $0.value.rawValue < $1.value.rawValue }
    /// All fields, in the order in which they stand in frames.
    package static let allFields = allNamed.map(\.value)
}

/// The samples and expectations of all families.
package enum SampleFrames {
    package static let account = LoginFrames.account
    package static let thirtyTwo = LoginFrames.thirtyTwo
    package static let expectations = Listed.families.flatMap { $0.expectations }
    package static let requests = Listed.families.flatMap { $0.requests }
    package static let answers = Listed.families.flatMap { $0.answers }
}
