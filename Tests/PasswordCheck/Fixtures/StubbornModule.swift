// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestScopes
import Testing

/// A PAM module that misbehaves as its argument says, compiled when first wanted.
enum StubbornModule {
    private static let source = #"""
        #include <security/pam_ext.h>
        #include <security/pam_modules.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static int ask(pam_handle_t *h, int style) {
            char *text = NULL;
            int status = pam_prompt(h, style, &text, "again: ");
            free(text);
            return status;
        }
        int pam_sm_authenticate(pam_handle_t *h, int flags, int argc, const char **argv) {
            const char *how = argc > 0 ? argv[0] : "";
            if (!strcmp(how, "visible")) ask(h, PAM_PROMPT_ECHO_ON);
            if (!strcmp(how, "hidden")) ask(h, PAM_PROMPT_ECHO_OFF);
            if (!strcmp(how, "talk")) ask(h, PAM_TEXT_INFO), ask(h, PAM_ERROR_MSG);
            if (!strcmp(how, "rename")) pam_set_item(h, PAM_USER, "mallory");
            if (!strcmp(how, "leave")) exit(0);
            if (!strcmp(how, "crash")) abort();
            if (!strcmp(how, "silent") && !(flags & PAM_SILENT)) return PAM_AUTH_ERR;
            if (!strcmp(how, "hang")) {
                int gate = open("/media/gate", O_WRONLY);
                if (write(gate, "x", 1) == 1) pause();
            }
            if (!strcmp(how, "inherit") && access("/proc/self/fd/3", F_OK) == 0) return PAM_AUTH_ERR;
            if (!strcmp(how, "inherit") && environ && environ[0]) return PAM_AUTH_ERR;
            return PAM_SUCCESS;
        }
        int pam_sm_setcred(pam_handle_t *h, int f, int c, const char **v) { return PAM_SUCCESS; }
        """#

    /// Compiles it into a directory that only this thread sees.
    static func install(at path: String) throws {
        try PrivateThread.write(source, to: path + ".c")
        let status = try Tool.run([
            "cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", path, path + ".c",
        ])
        #expect(status == 0, "cc is needed to build the misbehaving module")
    }
}
