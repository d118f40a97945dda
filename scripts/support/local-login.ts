import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivateFile } from './private-file.ts'

interface Login {
  url: string
  token: string
}

/** The file in which `ecm` looks for the login of a local server when it is called in the same folder. */
const getLoginFile = () => join(process.cwd(), '.wrangler', 'ecm.json')

async function readLocalLogin(): Promise<Partial<Login> | null> {
  try {
    return JSON.parse(await readFile(getLoginFile(), 'utf8')) as Partial<Login> | null
  } catch {
    return null
  }
}

export const writeLocalLogin = ({ url, token }: Login): Promise<void> =>
  writePrivateFile(getLoginFile(), `${JSON.stringify({ url, token }, null, 2)}\n`)

/** Removes the login of this address. The login of another server, which started later in this folder, stays. */
export async function removeLocalLogin(url: string): Promise<void> {
  const login = await readLocalLogin()
  if (login?.url === url) await rm(getLoginFile(), { force: true })
}
