import { zipSync } from 'fflate'
import { fromBase64, toHex, utf8 } from '../../domain/text/encoding.ts'
import { type AppleIdentity, buildApplePassJson } from './apple-fields.ts'
import type { ApplePass } from './passes.ts'

/** Signs the manifest of a package. Without a signature no wallet opens the package. */
export type SignManifest = (manifest: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>>

/** Plain squares of 29, 58 and 87 pixels. Wallets refuse a package without an icon. */
const icons = {
  'icon.png':
    'iVBORw0KGgoAAAANSUhEUgAAAB0AAAAdAQMAAABsXfVMAAAAA1BMVEUrOlWtyu/ZAAAADElEQVR42mNgGGQAAACRAAG4yD/UAAAAAElFTkSuQmCC',
  'icon@2x.png':
    'iVBORw0KGgoAAAANSUhEUgAAADoAAAA6AQMAAADbddhrAAAAA1BMVEUrOlWtyu/ZAAAADklEQVR42mNgGAWjAAQAAgoAAdudqdMAAAAASUVORK5CYII=',
  'icon@3x.png':
    'iVBORw0KGgoAAAANSUhEUgAAAFcAAABXAQMAAABLBksvAAAAA1BMVEUrOlWtyu/ZAAAAEklEQVR42mNgGAWjYBSMAgQAAAQUAAFv7EqEAAAAAElFTkSuQmCC',
}

/** Milliseconds UTC. The time is fixed, so that the same pass gives the same archive. */
const fileTime = Date.UTC(2026, 0, 1, 12)

const hashSha1 = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  toHex(await crypto.subtle.digest('SHA-1', bytes))

/** Builds the archive of a pass: its fields, its pictures, a manifest with their SHA-1, and the signature. */
export async function buildApplePackage(
  pass: ApplePass,
  identity: AppleIdentity,
  sign: SignManifest | null,
): Promise<Uint8Array<ArrayBuffer>> {
  const files: Record<string, Uint8Array<ArrayBuffer>> = {
    'pass.json': utf8(JSON.stringify(buildApplePassJson(pass, identity))),
    ...Object.fromEntries(Object.entries(icons).map(([name, picture]) => [name, fromBase64(picture)])),
  }
  const entries = await Promise.all(Object.entries(files).map(async ([name, bytes]) => [name, await hashSha1(bytes)]))
  const manifest = utf8(JSON.stringify(Object.fromEntries(entries)))
  files['manifest.json'] = manifest
  if (sign) files['signature'] = await sign(manifest)
  return zipSync(files, { level: 6, mtime: fileTime })
}
