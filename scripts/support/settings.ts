import { readFileSync } from 'node:fs'
import { findFaults, findMisspeltNames, type SettingFault } from '../../src/domain/settings/check.ts'
import { flag, type Form, wholeNumber } from '../../src/domain/settings/forms.ts'
import type { Installation } from '../../src/domain/settings/rules.ts'
import {
  getSetting,
  readText,
  secretNames,
  type SettingName,
  settingNames,
  type SettingTexts,
} from '../../src/domain/settings/settings.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Variables of `npm start` that are no settings of the Worker. */
const startForms: Record<string, Form<unknown>> = {
  PORT: wholeNumber(0, 65_535),
  SEED: flag,
}
const startNames = [...Object.keys(startForms), 'STATE_DIR', 'INSPECTOR_PORT']

/** Variables of `npm run serve` that are no settings of the Worker. */
const serveForms: Record<string, Form<unknown>> = {
  PORT: wholeNumber(0, 65_535),
  TRUSTED_PROXIES: wholeNumber(0, 10),
}
const serveNames = [...Object.keys(serveForms), 'HOST', 'STATE_DIR', ...secretNames.map((name) => `${name}_FILE`)]

/** Secrets that an installation has of its own, and that deploying makes. */
const generatedSecrets = settingNames.filter((name) => getSetting(name).isGenerated)

/** The values for this machine, with which `npm start` replaces what is not set. */
export const developmentTexts = Object.fromEntries(
  settingNames.flatMap((name) => {
    const { development } = getSetting(name)
    return development === undefined ? [] : [[name, development]]
  }),
) as Record<'ENVIRONMENT' | 'PUBLIC_URL' | 'ROOT_TOKEN' | 'LINK_SIGNING_KEY', string>

/** Picks the settings of an environment that are set. */
export const pickSettings = (env: Environment): Record<string, string> =>
  Object.fromEntries(settingNames.map((name) => [name, readText(env, name)]).filter(([, text]) => text !== ''))

/** Throws one error that lists all faults, a line for each. */
function refuse(faults: readonly (SettingFault | string)[]): void {
  const messages = faults.map((fault) => (typeof fault === 'string' ? fault : fault.message))
  if (messages.length > 0) throw new Error([...new Set(messages)].join('\n'))
}

function describeEnvironment(texts: SettingTexts, wanted: string, reason: string): string[] {
  const text = readText(texts, 'ENVIRONMENT')
  return text === '' || text === wanted ? [] : [`ENVIRONMENT is "${text}". ${reason}`]
}

const findScriptFaults = (env: Environment, forms: Readonly<Record<string, Form<unknown>>>): string[] =>
  Object.entries(forms).flatMap(([name, form]) => {
    const text = env[name] ?? ''
    return text === '' || form.read(text) !== null ? [] : [`${name} is "${text}". It must be ${form.description}.`]
  })

/** Refuses settings with which `npm start` cannot run. */
export function checkStartSettings(env: Environment): void {
  const texts: SettingTexts = { ...developmentTexts, ...pickSettings(env), ENVIRONMENT: 'development' }
  refuse([
    ...describeEnvironment(
      env,
      'development',
      '`npm start` always runs in development, with demonstration data and an open mailbox. docs/deploying.md says how to deploy the service.',
    ),
    ...findScriptFaults(env, startForms),
    ...findFaults(texts, { hasEmailBinding: false }),
    ...findMisspeltNames(Object.keys(env), startNames),
  ])
}

/**
 * Reads secrets from the files that variables such as ROOT_TOKEN_FILE name, as containers and systemd hand them over.
 * Returns the environment with the secrets.
 */
export function readSecretFiles(env: Environment): Environment {
  const files = secretNames.flatMap((name) => (env[`${name}_FILE`] ? [{ name, path: env[`${name}_FILE`] ?? '' }] : []))
  refuse(
    files
      .filter(({ name }) => readText(env, name) !== '')
      .map(({ name }) => `${name} and ${name}_FILE are both set. Remove one of them.`),
  )
  const texts = files.map(({ name, path }) => {
    try {
      return [name, readFileSync(path, 'utf8').trim()] as const
    } catch {
      throw new Error(`${name}_FILE is "${path}", which this user cannot read. Set the path of a file with the secret.`)
    }
  })
  return { ...env, ...Object.fromEntries(texts) }
}

/** Refuses settings with which `npm run serve` cannot run. */
export function checkServeSettings(env: Environment): void {
  const texts: SettingTexts = { ...pickSettings(env), ENVIRONMENT: 'production' }
  const missingSecrets = generatedSecrets.filter((name) => readText(texts, name) === '')
  refuse([
    ...describeEnvironment(env, 'production', 'A server for others always runs in production. Remove ENVIRONMENT.'),
    ...((env['STATE_DIR'] ?? '').trim() === ''
      ? ['STATE_DIR is not set. Set the folder for the database and the files, such as /var/lib/event-commerce.']
      : []),
    ...findScriptFaults(env, serveForms),
    ...missingSecrets.map((name) => `${name} is not set. Set a long random text, such as openssl rand -hex 32 prints.`),
    ...findFaults(texts, { hasEmailBinding: false }),
    ...findMisspeltNames(Object.keys(env), serveNames),
  ])
}

interface Deployment extends Installation {
  /** The variables of wrangler.toml. */
  variables: SettingTexts & Readonly<Record<string, unknown>>
  /** The names of the secrets of the Worker, whose values nobody can read. */
  secrets: readonly string[]
  /** The texts of those secrets that are about to be uploaded. */
  secretTexts?: SettingTexts
}

/** Refuses settings with which the service cannot be deployed. */
export function checkDeploySettings({ variables, secrets, secretTexts = {}, ...installation }: Deployment): void {
  const uploadedSecrets = secrets.filter((name): name is SettingName => (settingNames as string[]).includes(name))
  const unreadableSecrets = uploadedSecrets.filter((name) => readText(secretTexts, name) === '')
  const texts = {
    ...variables,
    ...secretTexts,
    ...Object.fromEntries(unreadableSecrets.map((name) => [name, 'uploaded'])),
  }
  refuse([
    ...describeEnvironment(variables, 'production', 'A deployed service runs in production. Set it in wrangler.toml.'),
    ...secretNames
      .filter((name) => readText(variables, name) !== '')
      .map((name) => `${name} is a secret. Remove it from wrangler.toml, and run: npx wrangler secret put ${name}`),
    ...findFaults({ ...texts, ENVIRONMENT: 'production' }, installation, new Set(unreadableSecrets)),
    ...findMisspeltNames([...Object.keys(variables), ...secrets]),
  ])
}
