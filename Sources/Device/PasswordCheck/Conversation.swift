// SPDX-License-Identifier: Apache-2.0
import CPAM
import Glibc

/// A PAM conversation that answers one question: the first hidden prompt gets the password.
///
/// Any other prompt is denied with PAM_CONV_ERR, and messages are dropped. The denial is
/// remembered, because a stack may continue after it and still end in success. Source:
/// `pam_conv(3)`.
final class Conversation {
    private let password: PasswordText
    /// Whether a module asked for the password and got it.
    private(set) var hasAnswered = false
    /// Whether any prompt or malformed message was denied.
    private(set) var wasRefused = false

    /// Creates a conversation with its only answer.
    init(password: PasswordText) {
        self.password = password
    }

    /// The callback for libpam.
    ///
    /// The conversation must outlive the PAM handle.
    var callback: pam_conv {
        unsafe pam_conv(
            conv: { count, messages, replies, context in
                guard let context = unsafe context, let messages = unsafe messages,
                    let replies = unsafe replies
                else { return PAM_CONV_ERR }
                let conversation = unsafe Unmanaged<Conversation>.fromOpaque(context)
                    .takeUnretainedValue()
                return unsafe conversation.answer(Int(count), messages: messages, replies: replies)
            },
            appdata_ptr: unsafe Unmanaged.passUnretained(self).toOpaque())
    }

    /// Answers one call of libpam.
    ///
    /// On success libpam owns `replies`; on failure everything is wiped and freed here.
    private func answer(
        _ count: Int,
        messages: UnsafeMutablePointer<UnsafePointer<pam_message>?>,
        replies: UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>
    ) -> Int32 {
        guard (1...Int(PAM_MAX_NUM_MSG)).contains(count),
            let memory = unsafe calloc(count, MemoryLayout<pam_response>.stride)
        else { return PAM_CONV_ERR }
        let answers = unsafe memory.bindMemory(to: pam_response.self, capacity: count)
        for index in 0..<count {
            guard unsafe answer(messages[index], into: &answers[index]) else {
                wasRefused = true
                unsafe Self.discard(answers, count: count)
                return PAM_CONV_ERR
            }
        }
        unsafe replies.pointee = unsafe answers
        return PAM_SUCCESS
    }

    /// Answers one message; returns false to deny it.
    private func answer(
        _ message: UnsafePointer<pam_message>?, into reply: inout pam_response
    ) -> Bool {
        guard let message = unsafe message else { return false }
        switch unsafe message.pointee.msg_style {
        case PAM_PROMPT_ECHO_OFF:
            guard !hasAnswered, let text = unsafe password.duplicate() else { return false }
            hasAnswered = true
            unsafe reply.resp = unsafe text
            return true
        case PAM_TEXT_INFO, PAM_ERROR_MSG:
            return true
        default:  // An Int32 of the C library: PAM_PROMPT_ECHO_ON and whatever else there is.
            return false
        }
    }

    /// Wipes and frees the answers of a call that failed.
    private static func discard(_ answers: UnsafeMutablePointer<pam_response>, count: Int) {
        for index in 0..<count {
            guard let text = unsafe answers[index].resp else { continue }
            unsafe explicit_bzero(text, strlen(text))
            unsafe free(text)
        }
        unsafe free(answers)
    }
}
