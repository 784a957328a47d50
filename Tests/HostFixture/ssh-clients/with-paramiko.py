# SPDX-License-Identifier: Apache-2.0
# Lists the agent's keys and logs in at the sshd beside it, with paramiko.
import paramiko

for key in paramiko.Agent().get_keys():
    print("key", key.get_name())
client = paramiko.SSHClient()
client.load_host_keys("/run/hosts")
client.set_missing_host_key_policy(paramiko.RejectPolicy())
client.connect("127.0.0.1", username="alice", look_for_keys=False)
print(client.exec_command("echo logged in")[1].read().decode())
client.close()
