// SPDX-License-Identifier: Apache-2.0
import CCurl
import Posix

/// A libcurl easy handle, which keeps its connection open for the next request.
///
/// All options are reset before and after each request, so that nothing of one request, such as a
/// secret header, can leak into another. Requests that are not safe to repeat use a new connection,
/// because libcurl repeats a request by itself if an old connection turns out to be dead.
// SAFETY: used by one thread at a time, the one that took it from the client's pool.
@safe final class Transfer: @unchecked Sendable {
    private let curl: UnsafeMutableRawPointer

    /// The number of descriptors that resolving a name and connecting may take.
    private static let room = 16
    /// Whether enough descriptors and ports are free at this moment.
    private static var hasRoom: Bool {
        Posix.hasHeadroom(forDescriptors: room) && hasDatagramPort()
    }

    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init() throws(ClientFault) {
        guard Transfer.isReady, let curl = unsafe curl_easy_init() else {
            throw .exhausted("libcurl does not start")
        }
        unsafe self.curl = curl
    }

    deinit { unsafe curl_easy_cleanup(curl) }

    /// Performs a request and waits for the response.
    ///
    /// - Throws: `ClientFault`; see `fault` for how the cause is determined.
    func perform(
        _ request: ClientRequest, configuration: ClientConfiguration, cancelled: CancelFlag
    ) throws(ClientFault) -> HTTPAnswer {
        try request.check(allowsPlain: configuration.allowsPlain)
        unsafe curl_easy_reset(curl)
        defer { unsafe curl_easy_reset(curl) }
        let list = unsafe try headerList(request)
        defer { unsafe curl_slist_free_all(list) }
        let pinned = unsafe try pinnedHost(request, configuration.addresses)
        defer { unsafe curl_slist_free_all(pinned) }
        let reception = Reception(configuration, cancelled: cancelled)
        guard setLimits(configuration, limit: request.limit), setTrust(configuration),
            setWay(configuration), setReception(reception), setRequest(request),
            unsafe signet_curl_pointer(curl, CURLOPT_HTTPHEADER, list) == CURLE_OK,
            unsafe signet_curl_pointer(curl, CURLOPT_RESOLVE, pinned) == CURLE_OK
        else { throw .badRequest("libcurl refuses a setting") }
        let hadRoom = Self.hasRoom
        let code = run(request.body)
        if code == CURLE_OK {
            let status = unsafe Int(signet_curl_status(curl))
            return HTTPAnswer(status: status, headers: reception.headers, body: reception.body)
        }
        throw fault(
            code, sent: unsafe signet_curl_sent(curl) != 0,
            connected: reception.hasConnected,
            exhausted: unsafe reception.isExhausted || signet_curl_exhausted(curl) != 0,
            hadRoom: hadRoom && Self.hasRoom,
            verification: unsafe signet_curl_verification(curl), reception: reception)
    }

    /// Runs the transfer; libcurl reads the body in place, without a copy.
    private func run(_ body: [UInt8]?) -> CURLcode {
        guard let body else { return unsafe curl_easy_perform(curl) }
        return unsafe body.withUnsafeBytes { bytes in
            let size = curl_off_t(bytes.count)
            // Without an address, libcurl would read from standard input.
            var nothing: UInt8 = 0
            return unsafe withUnsafePointer(to: &nothing) { empty in
                let start = unsafe bytes.baseAddress ?? UnsafeRawPointer(empty)
                guard
                    unsafe signet_curl_offset(curl, CURLOPT_POSTFIELDSIZE_LARGE, size) == CURLE_OK,
                    unsafe signet_curl_pointer(curl, CURLOPT_POSTFIELDS, start) == CURLE_OK
                else { return CURLE_BAD_FUNCTION_ARGUMENT }
                return unsafe curl_easy_perform(curl)
            }
        }
    }
}

extension Transfer {
    private func set(_ option: CURLoption, _ value: Int) -> Bool {
        unsafe signet_curl_long(curl, option, value) == CURLE_OK
    }

    private func set(_ option: CURLoption, _ value: String?) -> Bool {
        guard let value else {
            return unsafe signet_curl_text(curl, option, nil) == CURLE_OK
        }
        return unsafe signet_curl_text(curl, option, value) == CURLE_OK
    }

    private func setLimits(_ configuration: ClientConfiguration, limit: Duration?) -> Bool {
        let total = min(limit ?? configuration.totalLimit, configuration.totalLimit)
        // QUICK_EXIT: do not wait for an unresponsive name server beyond the limits.
        return set(CURLOPT_NOSIGNAL, 1) && set(CURLOPT_QUICK_EXIT, 1)
            && set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(min(configuration.connectLimit, total)))
            && set(CURLOPT_TIMEOUT_MS, milliseconds(total))
            && set(CURLOPT_FOLLOWLOCATION, 0)
            && set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    }

    /// Verification is on by default, and is set here nevertheless, because everything depends on
    /// it.
    private func setTrust(_ configuration: ClientConfiguration) -> Bool {
        guard set(CURLOPT_SSL_VERIFYPEER, 1), set(CURLOPT_SSL_VERIFYHOST, 2),
            set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            // Trust is checked again for each connection, without cached authorities or TLS
            // sessions.
            set(CURLOPT_CA_CACHE_TIMEOUT, 0), set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        else { return false }
        if let pin = configuration.pinnedKey, !set(CURLOPT_PINNEDPUBLICKEY, pin) { return false }
        switch configuration.authorities {
        case .system: return true
        case .certificates(let pem):
            // Otherwise the machine's directory of authorities would be trusted as well.
            guard set(CURLOPT_CAPATH, nil), set(CURLOPT_CAINFO, nil) else { return false }
            return unsafe pem.withUnsafeBytes { bytes in
                unsafe signet_curl_copied(
                    curl, CURLOPT_CAINFO_BLOB, bytes.baseAddress, bytes.count) == CURLE_OK
            }
        case .file(let path):
            return set(CURLOPT_CAPATH, nil) && set(CURLOPT_CAINFO, path)
        }
    }

    /// Sets the schemes and the proxy; to libcurl, an empty proxy means none, and an unset one the
    /// environment's.
    private func setWay(_ configuration: ClientConfiguration) -> Bool {
        let schemes = configuration.allowsPlain ? "http,https" : "https"
        guard set(CURLOPT_PROTOCOLS_STR, schemes), set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
            set(CURLOPT_PATH_AS_IS, 1), set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        else { return false }
        // Connecting over disabled IPv6 would look as if no port were free.
        if isIPv6Off(), !set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4)) { return false }
        switch configuration.proxy {
        case .none: return set(CURLOPT_PROXY, "")
        case .url(let url): return set(CURLOPT_PROXY, url) && set(CURLOPT_NOPROXY, "")
        case .environment: return true
        }
    }

    private func setRequest(_ request: ClientRequest) -> Bool {
        guard set(CURLOPT_URL, request.url) else { return false }
        if request.method == "HEAD" { return set(CURLOPT_NOBODY, 1) }
        // If a connection that was kept open has died, libcurl repeats the request by itself.
        if !request.isSafe, !set(CURLOPT_FRESH_CONNECT, 1) { return false }
        if request.body != nil, !set(CURLOPT_POST, 1) { return false }
        return set(CURLOPT_CUSTOMREQUEST, request.method)
    }

    private func setReception(_ reception: Reception) -> Bool {
        // SAFETY: `perform` holds the reception until the transfer is over.
        let context = unsafe Unmanaged.passUnretained(reception).toOpaque()
        let header: signet_curl_sink = { bytes, size, count, context in
            guard let taken = unsafe received(context) else { return 0 }
            let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe taken.takeHeader(part) ? part.count : 0
        }
        let body: signet_curl_sink = { bytes, size, count, context in
            guard let taken = unsafe received(context) else { return 0 }
            let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe taken.takeBody(part) ? part.count : 0
        }
        let opener: signet_curl_opener = { context, _, address in
            guard let asked = unsafe received(context), let target = unsafe address,
                unsafe asked.permits(bytes(of: target)), let address = unsafe address?.pointee,
                let socket = asked.openSocket(
                    family: address.family, type: address.socktype, protocol: address.protocol)
            else { return CURL_SOCKET_BAD }
            return socket
        }
        let watch: signet_curl_progress = { context, _, _, _, _ in
            guard let asked = unsafe received(context) else { return 1 }
            asked.lookForConnection()
            return asked.cancelled.isSet ? 1 : 0
        }
        return unsafe signet_curl_call(curl, CURLOPT_HEADERFUNCTION, header) == CURLE_OK
            && signet_curl_pointer(curl, CURLOPT_HEADERDATA, context) == CURLE_OK
            && signet_curl_call(curl, CURLOPT_WRITEFUNCTION, body) == CURLE_OK
            && signet_curl_pointer(curl, CURLOPT_WRITEDATA, context) == CURLE_OK
            && signet_curl_open(curl, opener) == CURLE_OK
            && signet_curl_pointer(curl, CURLOPT_OPENSOCKETDATA, context) == CURLE_OK
            && signet_curl_watch(curl, watch) == CURLE_OK
            && signet_curl_pointer(curl, CURLOPT_XFERINFODATA, context) == CURLE_OK
            && set(CURLOPT_NOPROGRESS, 0)
    }
}

private func received(_ context: UnsafeMutableRawPointer?) -> Reception? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<Reception>.fromOpaque(context).takeUnretainedValue()
}

/// The bytes of the address that libcurl is about to connect to; none for an unknown family.
private func bytes(of address: UnsafeMutablePointer<curl_sockaddr>) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe signet_curl_address(address, &bytes)
    return Array(bytes.prefix(count))
}

/// Makes the list that has libcurl take these addresses for the URL's host, which the caller frees.
///
/// The list alone is not relied upon: `Reception.permits` is asked before each connection.
private func pinnedHost(
    _ request: ClientRequest, _ addresses: [InternetAddress]?
) throws(ClientFault) -> UnsafeMutablePointer<curl_slist>? {
    guard let addresses else { return nil }
    guard let (host, port) = request.hostAndPort, !addresses.isEmpty else {
        throw .badRequest("the URL's host cannot be pinned to addresses")
    }
    let texts = addresses.map { $0.isIPv6 ? "[\($0.text)]" : $0.text }
    let entry = "\(host):\(port):\(texts.joined(separator: ","))"
    guard let list = unsafe curl_slist_append(nil, entry) else {
        throw .exhausted("no memory for the addresses")
    }
    return unsafe list
}

/// Makes the request's headers as a libcurl list, which the caller frees.
private func headerList(
    _ request: ClientRequest
) throws(ClientFault) -> UnsafeMutablePointer<curl_slist>? {
    var list: UnsafeMutablePointer<curl_slist>?
    // libcurl is not to wait for "100 Continue", nor to declare every body a form.
    var lines = ["Expect:"]
    if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
        lines.append("Content-Type:")
    }
    lines += request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    for line in lines {
        guard let longer = unsafe curl_slist_append(list, line) else {
            unsafe curl_slist_free_all(list)
            throw .badRequest("no memory for the headers")
        }
        unsafe list = longer
    }
    return unsafe list
}

/// Converts to milliseconds, at least one, because 0 means no limit to libcurl.
private func milliseconds(_ duration: Duration) -> Int {
    let (seconds, rest) = duration.components
    return max(1, Int(min(seconds, 1 << 31) * 1000 + rest / 1_000_000_000_000_000))
}

/// Translates a failure of libcurl.
///
/// libcurl does not distinguish a name that does not exist from one that could not be resolved for
/// lack of resources. `hadRoom` says whether this machine had the resources before and after the
/// transfer; if not, the fault is `exhausted` and not `cannotConnect`.
private func fault(
    _ code: CURLcode, sent: Bool, connected: Bool, exhausted: Bool, hadRoom: Bool,
    verification: Int, reception: Reception
) -> ClientFault {
    // This is the general message; libcurl's specific one may quote what was received.
    let reason = unsafe String(cString: curl_easy_strerror(code))
    if reception.isTooLarge { return .tooLarge }
    switch code {
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED:
        return .badRequest(reason)
    case CURLE_COULDNT_CONNECT where exhausted: return .exhausted(reason)
    case CURLE_OUT_OF_MEMORY: return .exhausted(reason)
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT,
        CURLE_PROXY:
        return hadRoom ? .cannotConnect(reason) : .exhausted(reason)
    case CURLE_OPERATION_TIMEDOUT where !sent && !connected:
        return hadRoom && !reception.isExhausted ? .cannotConnect(reason) : .exhausted(reason)
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
        CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM,
        CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_NOTFOUND, CURLE_USE_SSL_FAILED:
        return .tlsRefused(refusal(code, verification: verification) ?? .other(reason))
    case CURLE_OPERATION_TIMEDOUT: return .timedOut(sent: sent)
    case CURLE_FILESIZE_EXCEEDED: return .tooLarge
    case CURLE_ABORTED_BY_CALLBACK: return .cancelled(sent: sent)
    default: return .broken(sent: sent, reason)
    }
}

/// Returns why a certificate was rejected, if known; `verification` is OpenSSL's result.
///
/// If libcurl's own check of the name fails, OpenSSL's result is still unspecified;
/// openssl-verification-options(1).
private func refusal(_ code: CURLcode, verification: Int) -> TLSRefusal? {
    switch (code, verification) {
    case (CURLE_SSL_PINNEDPUBKEYNOTMATCH, _): .anotherKey
    case (CURLE_SSL_CACERT_BADFILE, _): .unusableAuthorities
    case (CURLE_PEER_FAILED_VERIFICATION, 0...1): .anotherName
    case (CURLE_PEER_FAILED_VERIFICATION, 9): .notYetValid
    case (CURLE_PEER_FAILED_VERIFICATION, 10): .expired
    case (CURLE_PEER_FAILED_VERIFICATION, 18...21): .unknownAuthority
    default: nil
    }
}
