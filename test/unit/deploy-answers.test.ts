import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { describeInstallation, type Installation } from '../../scripts/support/deploy/configuration.ts'
import { createQuestions } from '../../scripts/support/deploy/questions.ts'
import { planSecrets, readSecrets, storeSecrets } from '../../scripts/support/deploy/secrets.ts'
import { joinVariables, parseAssignments, readFileVariables } from '../../scripts/support/deploy/variables.ts'
import { refuseNpmOptions } from '../../scripts/support/npm-options.ts'
import { root } from '../../scripts/support/paths.ts'
import { checkDeploySettings } from '../../scripts/support/settings.ts'

let folder: string
let installation: Installation

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deploy-'))
  vi.stubEnv('DEPLOY_FOLDER', folder)
  installation = describeInstallation('production')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

describe('options', () => {
  it('that npm takes for its own are refused, because the command would run without them', () => {
    const refuse = (env: Record<string, string>) => () => refuseNpmOptions('deploy', ['env', 'dry-run', 'set'], env)
    refuse({ npm_config_yes: 'true', npm_config_dry_run: '' })()
    expect(refuse({ npm_config_dry_run: 'true' })).toThrow('Write -- before the options: npm run deploy -- --dry-run')
    expect(refuse({ npm_config_env: 'staging', npm_config_set: 'A=b' })).toThrow('npm keeps --env, --set for itself.')
  })
})

describe('the secrets', () => {
  const names = ['ROOT_TOKEN', 'LINK_SIGNING_KEY', 'IDEMPOTENCY_KEY', 'MERCHANT_KEY_SECRET']

  it('are made where neither the platform nor the file has them', () => {
    expect(planSecrets([], {})).toEqual({ newNames: names, missingNames: names, unknownNames: [] })
    expect(planSecrets(['ROOT_TOKEN'], { LINK_SIGNING_KEY: 'mine', SMS_API_KEY: 'key' })).toEqual({
      newNames: ['IDEMPOTENCY_KEY', 'MERCHANT_KEY_SECRET'],
      missingNames: ['IDEMPOTENCY_KEY', 'MERCHANT_KEY_SECRET', 'LINK_SIGNING_KEY', 'SMS_API_KEY'],
      unknownNames: ['ROOT_TOKEN'],
    })
    expect(planSecrets([...names, 'SMS_API_KEY'], { ROOT_TOKEN: 'other', SMS_API_KEY: 'other' })).toEqual({
      newNames: [],
      missingNames: [],
      unknownNames: ['LINK_SIGNING_KEY', 'IDEMPOTENCY_KEY', 'MERCHANT_KEY_SECRET'],
    })
  })

  it('are checked before they are uploaded, and are in no message', () => {
    const check = (secretTexts: Record<string, string>) => () =>
      checkDeploySettings({
        variables: { PUBLIC_URL: 'https://events.example.com' },
        secrets: [...names, ...Object.keys(secretTexts)],
        secretTexts,
      })
    check({})()
    expect(check({ ALERT_WEBHOOK_URL: 'https://alerts.example.com', ALERT_WEBHOOK_SECRET: 'short-key' })).toThrow(
      /^(?!.*short-key).*ALERT_WEBHOOK_SECRET/s,
    )
    expect(
      check({ ALERT_WEBHOOK_URL: 'https://EVENTS.example.com/key', ALERT_WEBHOOK_SECRET: `whsec_${'A'.repeat(32)}` }),
    ).toThrow(/^(?!.*\/key).*points to this service itself/s)
  })

  it('are those of the service alone, because others would replace variables', async () => {
    await storeSecrets(installation, {}, [])
    for (const name of ['PUBLIC_URL', 'SMS_APIKEY']) {
      writeFileSync(installation.secretsFile, JSON.stringify({ [name]: 'x-secret' }))
      await expect(readSecrets(installation)).rejects.toThrow(new RegExp(`^(?!.*x-secret).*contains ${name},`, 's'))
    }
  })

  it('are in no folder that Git might store, when DEPLOY_FOLDER is empty', () => {
    vi.stubEnv('DEPLOY_FOLDER', '')
    expect(describeInstallation('production').secretsFile).toBe(join(root, '.deploy', 'production', 'secrets.json'))
  })

  it('are stored for their owner alone, and never made anew', async () => {
    expect(await readSecrets(installation)).toEqual({})
    const first = await storeSecrets(installation, { SMS_API_KEY: 'a"b$c' }, names)
    chmodSync(installation.secretsFile, 0o644)
    writeFileSync(join(installation.folder, 'upload.json'), '{}')
    expect(await storeSecrets(installation, await readSecrets(installation), [])).toEqual(first)
    expect(statSync(installation.secretsFile).mode & 0o777).toBe(0o600)
    expect(readdirSync(installation.folder)).toEqual(['secrets.json'])
    expect(new Set(names.map((name) => first[name])).size).toBe(4)
    for (const name of names) expect(first[name]).toMatch(/^[0-9a-f]{64}$/)
  })

  it.for(['{"ROOT_TOKEN": "abc', '[]', 'null', '{"ROOT_TOKEN": 1}', ''])(
    'stay in a file that cannot be read: %s',
    async (text) => {
      await storeSecrets(installation, {}, [])
      writeFileSync(installation.secretsFile, text)
      await expect(readSecrets(installation)).rejects.toThrow('Nothing was changed.')
      expect(readFileSync(installation.secretsFile, 'utf8')).toBe(text)
    },
  )
})

describe('the variables', () => {
  it('are those of wrangler.toml, of the options, or as they are deployed', () => {
    const file = { PUBLIC_URL: '', SMS_PROVIDER: 'gatewayapi', OUTGOING: '', FILES_URL: '' }
    const deployed = { PUBLIC_URL: 'https://a.example', SMS_PROVIDER: '', OUTGOING: 'hold', FORMER: 'x' }
    expect(joinVariables(file, deployed, {})).toEqual({ ...file, PUBLIC_URL: 'https://a.example', OUTGOING: 'hold' })
    expect(joinVariables(file, deployed, { OUTGOING: '' })).toMatchObject({ OUTGOING: '' })
    expect(() => joinVariables(file, deployed, { SMS_PROVIDER: '' })).toThrow('SMS_PROVIDER is set in wrangler.toml')
  })

  it('of the options are variables and no secrets', () => {
    expect(parseAssignments(['PUBLIC_URL=https://a.example/?a=b', 'OUTGOING='])).toEqual({
      PUBLIC_URL: 'https://a.example/?a=b',
      OUTGOING: '',
    })
    for (const text of ['ROOT_TOKEN=abc', 'NOTHING=1', 'PUBLIC_URL', '=x'])
      expect(() => parseAssignments([text])).toThrow(/^--set /)
    expect(() => parseAssignments(['ROOT_TOKEN=abc-secret'])).toThrow(/^(?!.*abc-secret)/)
  })

  it('of another environment are its own where only one installation can have them', () => {
    const staging = describeInstallation('staging')
    Object.assign(staging.file.vars, { PUBLIC_URL: 'https://events.example.com', SMS_PROVIDER: 'gatewayapi' })
    expect(readFileVariables(staging)).toMatchObject({ PUBLIC_URL: '', SMS_PROVIDER: 'gatewayapi' })
    staging.file.env = { staging: { vars: { PUBLIC_URL: 'https://staging.example.com' } } }
    expect(readFileVariables(staging)).toMatchObject({ PUBLIC_URL: 'https://staging.example.com' })
  })
})

describe('the questions', () => {
  const createTerminal = () => {
    const input = Object.assign(new PassThrough(), { isTTY: true })
    const output = Object.assign(new PassThrough(), { isTTY: true })
    return { input, output, questions: createQuestions({ input, output }) }
  }

  it('are asked at a terminal alone', () => {
    expect(createTerminal().questions.canAsk).toBe(true)
    expect(createQuestions({ input: new PassThrough(), output: new PassThrough() }).canAsk).toBe(false)
  })

  it('show the question and the standard, and no secret', async () => {
    const { input, output, questions } = createTerminal()
    const name = questions.ask('Name', 'Nordlys')
    input.write('\r')
    expect(await name).toBe('Nordlys')
    const secret = questions.askSecret('Key')
    input.write('re_123\r')
    expect(await secret).toBe('re_123')
    const confirmation = questions.confirm('Go on?')
    input.write('y\r')
    expect(await confirmation).toBe(true)
    const text = String(output.read())
    expect(text).toContain('Name [Nordlys]: ')
    expect(text).toContain('Key: ')
    expect(text).not.toContain('re_123')
  })

  it.for(['\u0003', '\u0004'])('end the command when they are interrupted: %j', async (key) => {
    const { input, questions } = createTerminal()
    const confirmation = questions.confirm('Go on?')
    input.write(key)
    await expect(confirmation).rejects.toThrow('Interrupted.')
  })

  it('end with the signal', async () => {
    const { input, output } = createTerminal()
    const quit = new AbortController()
    const confirmation = createQuestions({ input, output }, quit.signal).confirm('Go on?')
    quit.abort()
    await expect(confirmation).rejects.toThrow('Interrupted.')
  })
})
