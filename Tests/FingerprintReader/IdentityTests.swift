// SPDX-License-Identifier: Apache-2.0
import MainContext
import ReaderProtocol
import TestSupport
import Testing

@testable import FingerprintReader

extension ReaderTests {
    @Suite("which reader it is")
    struct IdentityTests {
        @Test("a virtual reader is known by driver and device, and has no serial number")
        func virtual() async throws {
            let found = try await ReaderFixture.withReaders { await $0.descriptions }
            #expect(!found.isEmpty)
            for reader in found { #expect(reader.serial == nil) }
            let storage = try #require(found.first { $0.id == ReaderFixture.storageID })
            #expect(
                storage.identity
                    == ReaderIdentity(
                        driver: "virtual_device_storage", deviceID: "0", serial: nil))
        }

        @Test("two equal readers have ids of their own, and each does what it can")
        func twins() async throws {
            try await ReaderFixture.withTwin { readers in
                let found = await readers.descriptions.filter {
                    $0.driver == ReaderFixture.storageDriver
                }
                #expect(
                    found.map(\.id).sorted() == [ReaderFixture.storageID, ReaderFixture.twinID])
                #expect(Set(found.map(\.identity)).count == 1)
                let unable = try #require(found.first { !$0.features.contains(.list) })
                let able = try #require(found.first { $0.features.contains(.list) })
                #expect(try await readers.list(on: able.id).prints.isEmpty)
                await #expect(throws: ReaderFault.notSupported) {
                    _ = try await readers.list(on: unable.id)
                }
            }
        }

        @Test("a unit's serial number is part of its identity")
        func serials() {
            let plain = ReaderIdentity(driver: "driver", deviceID: "0", serial: nil)
            let first = ReaderIdentity(driver: "driver", deviceID: "0", serial: "1")
            let second = ReaderIdentity(driver: "driver", deviceID: "0", serial: "2")
            #expect(Set([plain, first, second]).count == 3)
        }

        @Test("the serial number is the kernel's record for bus and address")
        func serial() throws {
            let sysfs = try Scratch()
            try sysfs.write("dev/char/189:0/serial", "00C0FFEE-42\n")
            try sysfs.write("dev/char/189:130/serial", "another\n")
            #expect(USBSerial.read(bus: 1, address: 1, sysfs: sysfs.path) == "00C0FFEE-42")
            #expect(USBSerial.read(bus: 2, address: 3, sysfs: sysfs.path) == "another")
            #expect(USBSerial.read(bus: 2, address: 4, sysfs: sysfs.path) == nil)
            #expect(USBSerial.read(bus: 0, address: 1, sysfs: sysfs.path) == nil)
            #expect(USBSerial.read(bus: 1, address: 0, sysfs: sysfs.path) == nil)
        }

        @Test(
            "a serial number that is blank, cut, too long or not UTF-8 is ignored",
            arguments: ["", "\n", "   \n", "cut", String(repeating: "x", count: 379) + "\n"])
        func noSerial(contents: String) throws {
            let sysfs = try Scratch()
            try sysfs.write("dev/char/189:0/serial", contents)
            #expect(USBSerial.read(bus: 1, address: 1, sysfs: sysfs.path) == nil)
        }

        @Test("the seat is udev's record for bus and address, else the first one")
        func seat() throws {
            let run = try Scratch()
            try run.write("udev/data/c189:0", "I:1\nE:ID_SEAT=seat1\nE:ID_BUS=usb\n")
            try run.write("udev/data/c189:130", "E:ID_FOR_SEAT=usb\nE:ID_BUS=usb\n")
            try run.write("udev/data/c189:131", "E:ID_SEAT=\n")
            try run.write("udev/data/c189:132", "XE:ID_SEAT=seat1\n")
            let large = String(repeating: "x", count: 65_536) + "\nE:ID_SEAT=seat1\n"
            try run.write("udev/data/c189:133", large)
            #expect(USBSeat.read(bus: 1, address: 1, run: run.path) == "seat1")
            for address in 3...7 as ClosedRange<UInt8> {
                #expect(USBSeat.read(bus: 2, address: address, run: run.path) == "seat0")
            }
            #expect(USBSeat.read(bus: 0, address: 0, run: run.path) == "seat0")
        }
    }
}
