import { Button, Code, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Copy } from '../../parts/copy'
import { loadWords } from '../../words'

const t = await loadWords('webhooks')

/** The secret that signs requests. It is hidden until somebody asks for it. */
export function Secret({ secret, isOpen = false }: { secret: string; isOpen?: boolean }) {
  const [isVisible, visible] = useDisclosure(isOpen)
  return (
    <Group gap="xs" wrap="nowrap">
      <Code className="break">{isVisible ? secret : `whsec_${'•'.repeat(16)}`}</Code>
      <Copy text={secret} name={t.secret} />
      <Button size="compact-xs" variant="default" onClick={visible.toggle} aria-pressed={isVisible} miw="max-content">
        {isVisible ? t.hide : t.show}
      </Button>
    </Group>
  )
}
