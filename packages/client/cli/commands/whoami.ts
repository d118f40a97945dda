import type { Command } from 'commander'
import { openContext } from '../context.ts'

export function addWhoami(program: Command): void {
  program
    .command('whoami')
    .description('Show who you are and where')
    .addHelpText('after', '\nExamples:\n  ecm whoami\n  ecm whoami --json | jq -r .email')
    .action(async (_options: object, command: Command) => {
      const { client, connection, output } = await openContext(command)
      const { data } = await client.GET('/v1/auth/user-info')
      output.object({ url: connection.url, login: connection.source, ...data })
    })
}
