// SPDX-License-Identifier: Apache-2.0
import Posix
import Sealing
import SignedFormats
import State
import StateSupport
import Testing

extension CredentialStoreTests {
    @Test("a key that covers what readers store opens for just that, and is sealed again for more")
    func storage() throws {
        let now = ReaderStorage(
            driver: "driver", device: "0", serial: "1", prints: [[UInt8](repeating: 1, count: 32)])
        let enrolment = try fixture.account.prints.enrolment()
        let store = fixture.account.credential
        let draft = try store.draft(enrolment, covering: [now])
        let made = try fixture.vault.create(draft.context)
        try store.publish(draft, made: made, by: .file, now: StateFixture.now)
        guard case .issued(let found) = try store.state() else {
            Issue.record("not issued")
            return
        }
        #expect(found.storage == [now])
        _ = try fixture.sign([1], found, enrolment)
        for other in [[], [now, now]] {
            let context = try store.context(of: found, enrolment: enrolment, covering: other)
            #expect(throws: VaultError.doesNotOpen) {
                _ = try fixture.vault.ready(key: found.sealed, context: context).sign([1], context)
            }
        }
        let more = ReaderStorage(driver: "another", device: "0", serial: nil, prints: [])
        let resealed = try fixture.vault.reseal(
            key: found.sealed, from: try store.context(of: found, enrolment: enrolment),
            to: try store.context(of: found, enrolment: enrolment, covering: [now, more]))
        try store.keep(found, resealed: resealed, covering: [now, more])
        #expect(throws: StoreFault.changedMeanwhile) {
            try store.keep(found, resealed: resealed, covering: [now])
        }
        guard case .issued(let again) = try store.state() else {
            Issue.record("gone")
            return
        }
        #expect(again.storage == [now, more] && again.publicKey == found.publicKey)
        _ = try fixture.sign([1], again, enrolment)
    }
}
