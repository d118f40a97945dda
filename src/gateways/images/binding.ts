import type { ImagesGateway } from './images.ts'

const quality = 82
/** The most bytes of a variant; a longer answer is refused. */
const maxBytes = 20_000_000

async function readCapped(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > maxBytes) throw new Error(`The image is larger than ${maxBytes} bytes.`)
    chunks.push(chunk as Uint8Array<ArrayBuffer>)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/** The Images binding of the platform. It turns images by itself, and WebP that it makes has no metadata. */
export const imagesBinding = (binding: ImagesBinding): ImagesGateway => ({
  async toWebp(image, shape) {
    // Of an animation only the first frame: a small file can hold very many.
    const result = await binding.input(image).transform(shape).output({ format: 'image/webp', quality, anim: false })
    return readCapped(result.image())
  },
})
