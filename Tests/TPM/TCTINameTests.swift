// SPDX-License-Identifier: Apache-2.0
import TPM
import Testing

@Suite("the name of a TPM's transport")
struct TCTINameTests {
    @Test(
        "is read as it was written",
        arguments: [
            "device:/dev/tpmrm0", "device:/dev/tpm0", "device:/dev/tpmrm12", "device:/dev/vtpm/x-1",
            "swtpm:path=/run/tpm/socket", "swtpm:port=2321", "swtpm:host=localhost,port=2321",
            "swtpm:port=1,host=127.0.0.1", "tabrmd:", "tabrmd:bus_type=system",
            "tabrmd:bus_name=com.intel.tss2.Tabrmd",
        ])
    func allowed(_ text: String) throws {
        #expect(try TCTIName.parse(text).description == text)
    }

    @Test("auto is the kernel's resource manager")
    func auto() throws {
        #expect(try TCTIName.parse("auto").description == "device:/dev/tpmrm0")
    }

    @Test("a resource manager stands between, except on bare devices and in software")
    func managed() throws {
        for name in [
            "auto", "device:/dev/tpmrm1", "tabrmd:", "device:/dev/tpm", "device:/dev/x/tpm0",
        ] {
            #expect(try TCTIName.parse(name).isManaged == (name != "device:/dev/tpm"), "\(name)")
        }
        for name in ["device:/dev/tpm0", "device:/dev/tpm12", "swtpm:path=/x", "swtpm:port=1"] {
            #expect(try !TCTIName.parse(name).isManaged)
        }
    }

    @Test(
        "that starts programs, loads libraries, or is unknown is refused",
        arguments: [
            "cmd:tpm2_send", "pcap:device:/dev/tpmrm0", "libtpms:", "mssim:host=x", "none", "auto:",
            "libtss2-tcti-device.so.0:/dev/tpmrm0", "/tmp/evil.so", "/tmp/evil.so:x",
            "Device:/dev/x",
            "fuzzing:", "device", ":", "autoo", "i2c-helper:", "spi-helper:",
        ])
    func otherKind(_ text: String) {
        #expect(throws: TCTINameFault.kind) { try TCTIName.parse(text) }
    }

    @Test(
        "that is empty, over-long, or has blanks or control characters is refused",
        arguments: [
            "", " ", "device:/dev/tpm 0", "device:/dev/tpmrm0\n", "\u{0}", "device:/dev/tpm\u{7f}",
            "device:/dev/\u{e9}", "swtpm:path=/\u{1b}x",
            "device:/dev/" + String(repeating: "a", count: 200),
        ])
    func form(_ text: String) {
        #expect(throws: TCTINameFault.form) { try TCTIName.parse(text) }
    }

    @Test(
        "that leads somewhere else is refused",
        arguments: [
            "device:", "device:/dev", "device:/dev/", "device:dev/tpm0", "device:/tmp/tpm0",
            "device:/dev/../tmp/x", "device:/dev/./tpm0", "device:/dev//tpm0", "device:/dev/tpm0/",
            "device:/dev/tpm0,x", "swtpm:", "swtpm:/run/x", "swtpm:path=", "swtpm:path=run/x",
            "swtpm:path=/run/../x", "swtpm:path=/a,path=/b", "swtpm:path=/a,port=1",
            "swtpm:port=0", "swtpm:port=65536", "swtpm:port=-1", "swtpm:port=1x",
            "swtpm:host=localhost", "swtpm:host=example.org,port=1", "swtpm:host=10.0.0.1,port=1",
            "swtpm:port=1,,", "swtpm:other=1", "tabrmd:bus_type=session", "tabrmd:bus_name=",
            "tabrmd:x", "tabrmd:bus_name=a/b",
        ])
    func configuration(_ text: String) {
        do {
            _ = try TCTIName.parse(text)
            Issue.record("\(text) is allowed")
        } catch {
            guard case .configuration(let why) = error else {
                Issue.record("\(text): \(error)")
                return
            }
            #expect(!why.isEmpty)
        }
    }
}
