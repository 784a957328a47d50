// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Fingerprints
import LoginProtocol
import TestSupport

extension DemoSet {
    /// Pictures of fingers, compared by libfprint itself.
    static let imageScenes = [
        DemoScene(
            title: "Fingerprint images: alice enrols",
            about: "On another machine, with a reader that delivers images. They are drawn by a "
                + "generator of ridge patterns, each slightly rotated, shifted, distorted and "
                + "noisy; libfprint's own matcher finds the minutiae and compares.",
            play: enrolPictures),
        DemoScene(
            title: "Fingerprint images: alice and a stranger",
            about: "A new image of alice's finger matches; one of another finger does not.",
            play: comparePictures),
    ]

    private static let alicesFinger = SyntheticFinger(seed: 11)
    private static let strangersFinger = SyntheticFinger(seed: 12)

    private static func enrolPictures(_ set: DemoSet) throws {
        let terminal = try set.alice("signet", "enroll", "right-index")
        try set.see("Password of alice: ", on: terminal)
        try set.typePassword(terminal)
        try set.see("swipe your finger across the reader", on: terminal)
        set.screen.act("alice swipes her right index finger, five times")
        for stage in 1...5 {
            try set.put(alicesFinger, touch: stage)
            guard stage < 5 else { break }
            try set.see("\(stage) of 5", on: terminal)
            set.screen.react()
        }
        try set.see("is enrolled for alice", on: terminal)
        try set.end(terminal, "five images make a template")
    }

    private static func comparePictures(_ set: DemoSet) throws {
        let terminal = try set.alice("sudo", "whoami")
        try set.seeInvitation(terminal, to: "swipe your finger across the reader")
        set.screen.act("a stranger swipes a finger")
        try set.put(strangersFinger, touch: 1)
        try set.see("the finger did not match: 2 tries left", on: terminal)
        try set.seeInvitation(terminal, to: "swipe your finger across the reader")
        set.screen.act("alice swipes her right index finger")
        try set.put(alicesFinger, touch: 6)
        try set.seeRoot(terminal)
    }

    private func put(_ finger: SyntheticFinger, touch: Int) throws {
        let image = finger.impression(touch, quality: .careful)
        try signet.imageReader.send([
            .automaticFinger(true),
            .image(width: image.width, height: image.height, pixels: image.pixels),
        ])
    }
}
