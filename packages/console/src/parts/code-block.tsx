import { Box, Code } from '@mantine/core'
import { Copy } from './copy'

/** Code or a document to read and copy. `name` says what it is. */
export const CodeBlock = ({ text, name, height = 360 }: { text: string; name: string; height?: number }) => (
  <Box pos="relative">
    <Box pos="absolute" top={6} right={6} style={{ zIndex: 1 }}>
      <Copy text={text} name={name} />
    </Box>
    <Code block className="code" mah={height} style={{ overflow: 'auto' }} tabIndex={0} aria-label={name} role="group">
      {text}
    </Code>
  </Box>
)
