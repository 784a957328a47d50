// SPDX-License-Identifier: Apache-2.0
import TestScopes
import Testing

/// The tests of the running daemon, one after the other: two cores, and a person at each reader.
@Suite("the daemon", .serialized, .timeLimit(.minutes(10)), .threadOfItsOwn)
enum DaemonTests {}

/// Those with servers, and those that stop the daemon at each step: beside the first, for the time they
/// take together.
@Suite("the daemon, once more", .serialized, .timeLimit(.minutes(10)), .threadOfItsOwn)
enum SecondDaemonTests {}

/// Those of drivers and of the process they run in: beside the others, since they wait more than they
/// work.
@Suite(
    "the daemon and the drivers of readers", .serialized, .timeLimit(.minutes(10)), .threadOfItsOwn)
enum DriverTests {}
