import { idPrefixes } from '../ids.ts'
import {
  idBytes,
  idFromBytes,
  idToBytes,
  numberFromBytes,
  numberToBytes,
  openToken,
  signToken,
  type TokenSigner,
} from '../accounts/signed-tokens.ts'

/** Tokens of one file that work until a second: the file's id, a byte that the purpose gives a meaning, and the time. */
export interface FileToken {
  fileId: string
  mark: number
}

export async function signFileToken(
  secret: string,
  signer: TokenSigner,
  { fileId, mark, endsAt }: FileToken & { endsAt: number },
): Promise<string> {
  const id = idToBytes(idPrefixes.file, fileId)
  if (!id) throw new Error(`${fileId} is no id of a file`)
  return signToken(secret, signer, [...id, mark, ...numberToBytes(Math.floor(endsAt / 1000))])
}

/** What a token holds; null for one that is not ours, or is over. */
export async function openFileToken(
  secret: string,
  signer: TokenSigner,
  token: string,
  now: number,
): Promise<FileToken | null> {
  const content = await openToken(secret, signer, token)
  const ends = content && numberFromBytes(content, idBytes + 1)
  if (!content || !ends || ends.next !== content.length || now >= ends.value * 1000) return null
  return { fileId: idFromBytes(idPrefixes.file, content.slice(0, idBytes)), mark: content[idBytes] ?? 0 }
}
