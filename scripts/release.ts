import { parseArgs } from 'node:util'
import packageJson from '../package.json' with { type: 'json' }
import { Refusal } from './support/release/repository.ts'
import {
  commitRelease,
  packClient,
  planRelease,
  runCheck,
  storeSchema,
  tagRelease,
  usage,
} from './support/release/steps.ts'

function readArguments() {
  try {
    const options = { checked: { type: 'boolean' }, 'store-only': { type: 'boolean' } } as const
    return parseArgs({ allowPositionals: true, options })
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n${usage}`)
  }
}

/** Makes version, changelog, stored schema, commit, packed client and tag. Nothing leaves this machine. */
async function main(): Promise<void> {
  const { values, positionals } = readArguments()
  if (values['store-only'] && positionals.length === 0) {
    const paths = await storeSchema(packageJson.version)
    console.log(`Stored the schema of ${packageJson.version}: ${paths.join(', ')}`)
    return
  }
  const [request, ...rest] = positionals
  if (request === undefined || rest.length > 0 || values['store-only']) throw new Refusal(usage)
  const { version, isCommitted } = await planRelease(request)
  if (isCommitted) console.log(`Release ${version} is committed already. What is left comes now.`)
  else {
    if (!values.checked) await runCheck()
    console.log(`Storing the schema of ${version}, with demonstration data …`)
    await commitRelease(version, new Date().toISOString().slice(0, 10))
  }
  const { path, sha256 } = await packClient(version)
  await tagRelease(version)
  console.log(`
Release ${version} is committed and has the tag v${version}. Nothing was pushed or published.

The client:   ${path}
SHA-256:      ${sha256}

To push:      git push origin main v${version}
To publish:   npm publish ./${path}
To deploy:    npm run deploy
To undo it, as long as it is not pushed:
              git tag -d v${version} && git reset --hard HEAD~1`)
}

try {
  await main()
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(error.message)
  process.exitCode = 1
}
