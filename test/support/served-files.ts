import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { app } from '../../src/app.ts'
import type { Variant } from '../../src/domain/files/addresses.ts'
import type { SeededFile } from './seeding/files.ts'

export const buildPath = ({ id, access_key }: Pick<SeededFile, 'id' | 'access_key'>, variant: Variant = 'original') =>
  `/files/${id}/${access_key}/${variant}`

export interface Fetch {
  method?: string
  headers?: Record<string, string>
  bindings?: object
  origin?: string
  /** Waits for work after the answer. */
  isWaiting?: boolean
}

/** An answer with its bytes. */
export interface FetchedFile {
  status: number
  headers: Headers
  bytes: Uint8Array
}

/** Requests files as browsers do: without a token of the API. */
export async function fetchFile(path: string, options: Fetch = {}): Promise<FetchedFile> {
  const { method = 'GET', headers = {}, bindings = {}, origin = 'https://api.example', isWaiting = true } = options
  const context = createExecutionContext()
  const request = new Request(origin + path, { method, headers, redirect: 'manual' })
  const response = await app.fetch(request, { ...env, ...bindings }, context)
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (isWaiting) await waitOnExecutionContext(context)
  return { status: response.status, headers: response.headers, bytes }
}

export interface FakeImages {
  IMAGES: ImagesBinding
  /** Requested variants, in order. */
  asked: { shape: ImageTransform; output: ImageOutputOptions }[]
  /** The number of images that were read. */
  inputs: Uint8Array[]
}

/** Makes an Images binding that returns a description of the requested image. */
export function fakeImages(work: () => Promise<unknown> = async () => undefined): FakeImages {
  const asked: FakeImages['asked'] = []
  const inputs: Uint8Array[] = []
  const binding = {
    input: (stream: ReadableStream<Uint8Array>) => ({
      transform: (shape: ImageTransform) => ({
        async output(output: ImageOutputOptions) {
          asked.push({ shape, output })
          inputs.push(new Uint8Array(await new Response(stream).arrayBuffer()))
          await work()
          return { image: () => new Blob([`webp ${JSON.stringify(shape)}`]).stream() }
        },
      }),
    }),
  }
  return { IMAGES: binding as unknown as ImagesBinding, asked, inputs }
}

export const decodeText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
