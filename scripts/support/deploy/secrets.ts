import { randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { getSetting, secretNames } from '../../../src/domain/settings/settings.ts'
import { root } from '../paths.ts'
import { writePrivateFile } from '../private-file.ts'
import type { Installation } from './configuration.ts'

/** The secrets of an installation on this machine, by name. The platform never shows those that it has. */
export type Secrets = Readonly<Record<string, string>>

const generatedNames = secretNames.filter((name) => getSetting(name).isGenerated)

export function getSecretsPath({ secretsFile }: Installation): string {
  const path = relative(root, secretsFile)
  return path.startsWith('..') ? resolve(secretsFile) : path
}

/** Reads the file of secrets. A file that cannot be read is never replaced. */
export async function readSecrets(installation: Installation): Promise<Secrets> {
  let text: string
  try {
    text = await readFile(installation.secretsFile, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
  const secrets = parseSecrets(text)
  if (!secrets)
    throw new Error(
      `${getSecretsPath(installation)} is not a JSON object of texts. Nothing was changed. Correct it, or move it away: then secrets are made that the service lacks.`,
    )
  refuseOtherNames(secrets, getSecretsPath(installation))
  return secrets
}

/** A variable that is uploaded as a secret would replace the one of wrangler.toml. */
function refuseOtherNames(secrets: Secrets, path: string): void {
  const otherNames = Object.keys(secrets).filter((name) => !(secretNames as readonly string[]).includes(name))
  if (otherNames.length > 0)
    throw new Error(
      `${path} contains ${otherNames.join(', ')}, and no secret of the service has such a name. Nothing was changed. Remove it, or correct the name. Variables are set with --set. docs/settings.md lists both.`,
    )
}

function parseSecrets(text: string): Secrets | null {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject && Object.values(value).every((item) => typeof item === 'string') ? (value as Secrets) : null
  } catch {
    return null
  }
}

export interface SecretsPlan {
  /** Secrets that neither the platform nor the file has, and that are made. */
  newNames: string[]
  /** Secrets that the platform lacks: the new ones, and those that the file or the caller has. */
  missingNames: string[]
  /** Secrets that the platform has and the file lacks. */
  unknownNames: string[]
}

/** Compares what the platform has with the file and with the secrets that the caller adds. */
export function planSecrets(uploadedNames: readonly string[], secrets: Secrets): SecretsPlan {
  const isUploaded = (name: string) => uploadedNames.includes(name)
  const newNames = generatedNames.filter((name) => !isUploaded(name) && !secrets[name])
  const storedNames = Object.keys(secrets).filter((name) => !isUploaded(name) && secrets[name])
  return {
    newNames,
    missingNames: [...newNames, ...storedNames],
    unknownNames: generatedNames.filter((name) => isUploaded(name) && !secrets[name]),
  }
}

const getUploadPath = ({ folder }: Installation): string => join(folder, 'upload.json')

/** Adds random secrets to the others, and stores all before anything else happens to them. */
export async function storeSecrets(
  installation: Installation,
  secrets: Secrets,
  newNames: readonly string[],
): Promise<Secrets> {
  const newSecrets = Object.fromEntries(newNames.map((name) => [name, randomBytes(32).toString('hex')]))
  const all = { ...secrets, ...newSecrets }
  // A run that was killed while it uploaded leaves this file.
  await rm(getUploadPath(installation), { force: true })
  await writePrivateFile(installation.secretsFile, `${JSON.stringify(all, null, 2)}\n`)
  return all
}

/** Calls `upload` with a file of the named secrets alone, which is removed afterwards. */
export async function withUploadFile<Result>(
  installation: Installation,
  secrets: Secrets,
  upload: (path: string) => Promise<Result>,
): Promise<Result> {
  const path = getUploadPath(installation)
  await writePrivateFile(path, JSON.stringify(secrets))
  try {
    return await upload(path)
  } finally {
    await rm(path, { force: true })
  }
}
