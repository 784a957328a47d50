# SPDX-License-Identifier: Apache-2.0
# Lists the agent's keys and logs in at the sshd beside it, with asyncssh.
import asyncio

import asyncssh


async def main():
    async with asyncssh.connect_agent() as agent:
        for key in await agent.get_keys():
            print("key", key.algorithm.decode())
    async with asyncssh.connect(
        "127.0.0.1", username="alice", known_hosts="/run/hosts", config=None
    ) as connection:
        print((await connection.run("echo logged in")).stdout)


asyncio.run(main())
