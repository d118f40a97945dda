import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces a file whose content is a secret. Only its owner can read it, also when other people could read the old one. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  await writeFile(draft, content, { mode: 0o600 })
  await chmod(draft, 0o600)
  await rename(draft, path)
}
