// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Fingerprints
import LoginProtocol
import Synchronization
import TestSupport
import Testing

/// A finger on the reader of pictures: a different impression each time.
private final class PictureFinger: Sendable {
    private let finger: SyntheticFinger
    private let touches = Mutex(0)

    init(seed: UInt64) {
        finger = SyntheticFinger(seed: seed)
    }

    func touch(_ signet: SignetFixture) throws {
        let number = touches.withLock { touches in
            touches += 1
            return touches
        }
        let picture = finger.impression(number, quality: .careful)
        try signet.imageReader.send([
            .automaticFinger(true),
            .image(width: picture.width, height: picture.height, pixels: picture.pixels),
        ])
    }
}

@Suite("pictures of fingers, compared by libfprint", .timeLimit(.minutes(5)))
struct ImageTests {
    private let signet: SignetFixture
    private let alice = PictureFinger(seed: 11)
    private let stranger = PictureFinger(seed: 12)

    init() throws {
        let signet = try SignetFixture(readers: [.image])
        self.signet = signet
        let alice = alice
        let answer = try signet.enroll(HostFixture.alice) { notice in
            if notice.kind == .touch { try alice.touch(signet) }
        }
        #expect(answer == .done(DoneAnswer(finger: .rightIndex, prints: 1, state: .valid)))
    }

    @Test("let alice use sudo, and no other user")
    func sudo() throws {
        let terminal = try signet.host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        try stranger.touch(signet)
        try terminal.expect("the finger did not match: 2 tries left")
        try terminal.expectInvitation()
        try alice.touch(signet)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("a second finger, which is compared with the first, can be enrolled")
    func secondFinger() throws {
        let answer = try signet.enroll(HostFixture.alice, .leftIndex) { notice in
            if notice.kind == .touch { try stranger.touch(signet) }
        }
        #expect(answer == .done(DoneAnswer(finger: .leftIndex, prints: 2, state: .valid)))
        // The same finger under another name is not.
        let again = try signet.enroll(HostFixture.alice, .leftThumb) { notice in
            if notice.kind == .touch { try stranger.touch(signet) }
        }
        #expect(again == .denial(Denial(.fingerKnown, finger: .leftIndex)))
    }
}
