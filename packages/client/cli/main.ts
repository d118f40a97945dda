import { Command, CommanderError } from 'commander'
import { readGlobals } from './context.ts'
import { describeError, exitCodes, toProblem, UsageError } from './errors.ts'
import { cleanLines, toJson } from './output.ts'
import { version } from './version.ts'

const program = new Command('ecm')
  .description('Command line of the Event Commerce Management Service')
  .version(version)
  .option('--url <address>', 'address of the service (ECM_URL)')
  .option('--token <token>', 'access token (ECM_TOKEN)')
  .option('--json', 'print JSON, as in a pipe')
  .exitOverride()
  .showHelpAfterError('Add --help for the options and examples.')
  .addHelpText(
    'after',
    `
Data goes to stdout, everything else to stderr. The exit code is 0 for success, 1 for an error of the API or the
network, and 2 for wrong usage.`,
  )

type AddCommands = (program: Command) => void

const loadLogin = async (): Promise<AddCommands> => (await import('./commands/login.ts')).addLogin

const loaders: Readonly<Record<string, () => Promise<AddCommands>>> = {
  login: loadLogin,
  logout: loadLogin,
  whoami: async () => (await import('./commands/whoami.ts')).addWhoami,
  api: async () => (await import('./commands/api.ts')).addApi,
  listen: async () => (await import('./commands/listen.ts')).addListen,
  trigger: async () => (await import('./commands/trigger.ts')).addTrigger,
  verify: async () => (await import('./commands/verify.ts')).addVerify,
  import: async () => (await import('./commands/import.ts')).addImport,
  export: async () => (await import('./commands/export.ts')).addExport,
  campaign: async () => (await import('./commands/campaign.ts')).addCampaign,
  deliveries: async () => (await import('./commands/deliveries.ts')).addDeliveries,
  recover: async () => (await import('./commands/recover.ts')).addRecover,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctor,
  open: async () => (await import('./commands/open.ts')).addOpen,
}

// A command starts faster when it loads only itself. The help and suggestions need all of them.
const [firstWord = ''] = process.argv.slice(2)
const load = Object.hasOwn(loaders, firstWord) ? loaders[firstWord] : undefined
for (const loadCommands of load ? [load] : new Set(Object.values(loaders))) (await loadCommands())(program)

// A reader such as \`head\` may close the pipe before everything is printed.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(exitCodes.success)
})

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exitCodes.success : exitCodes.usage
  else {
    const isJson = readGlobals(program).json === true || !process.stderr.isTTY
    process.stderr.write(`${isJson ? toJson(toProblem(error)) : cleanLines(describeError(error))}\n`)
    process.exitCode = error instanceof UsageError ? exitCodes.usage : exitCodes.failed
  }
}
