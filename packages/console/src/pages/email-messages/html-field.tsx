import { ActionIcon, Button, Group, Input, Popover, Stack, Text, TextInput, Tooltip } from '@mantine/core'
import {
  IconBold,
  IconCode,
  IconItalic,
  IconLink,
  IconList,
  IconListNumbers,
  type TablerIcon,
} from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { loadWords } from '../../words'
import { FieldLabel, insertAtCursor, SourceArea } from './field-parts'
import { cleanHtml, isLink, isSimple, readHtml, showHtml } from './rich-text'
import { VariableMenu } from './variable-menu'

const t = await loadWords('emailMessages')

interface Props {
  label: string
  mark?: ReactNode
  value: string
  onChange: (html: string) => void
  error?: string | undefined
  language?: string
}

/** HTML of an e-mail: as formatted text where that shows all of it, otherwise as it is lastHtml. */
export function HtmlField(props: Props) {
  const [wantsSource, setWantsSource] = useState(false)
  const canFormat = isSimple(props.value)
  const isSource = wantsSource || !canFormat
  const area = useRef<HTMLTextAreaElement>(null)
  const toggle = (
    <ToolButton
      label={canFormat ? t.source : t.onlySource}
      icon={IconCode}
      isActive={isSource}
      press={() => canFormat && setWantsSource(!wantsSource)}
    />
  )
  if (!isSource) return <FormattedText {...props} toggle={toggle} />
  return (
    <Stack gap={4}>
      <FieldLabel label={props.label} mark={props.mark}>
        <Group gap={2} wrap="nowrap">
          <VariableMenu insert={(text) => props.onChange(insertAtCursor(area.current, text))} />
          {toggle}
        </Group>
      </FieldLabel>
      <SourceArea {...props} inputRef={area} />
      {!canFormat && (
        <Text size="xs" c="dimmed">
          {t.onlySource}
        </Text>
      )}
    </Stack>
  )
}

interface ToolProps {
  label: string
  icon: TablerIcon
  isActive?: boolean
  press: () => void
}

const ToolButton = ({ label, icon: Icon, isActive = false, press }: ToolProps) => (
  <Tooltip label={label}>
    <ActionIcon
      variant={isActive ? 'light' : 'subtle'}
      color="gray"
      size={24}
      aria-label={label}
      aria-pressed={isActive}
      // The editor keeps its selection while a button is pressed.
      onMouseDown={(event) => event.preventDefault()}
      onClick={press}
    >
      <Icon size={16} />
    </ActionIcon>
  </Tooltip>
)

function FormattedText({ label, mark, value, onChange, error, language, toggle }: Props & { toggle: ReactNode }) {
  const root = useRef<HTMLDivElement>(null)
  const lastHtml = useRef<string | null>(null)
  const range = useRef<Range | null>(null)
  useEffect(() => {
    if (root.current && lastHtml.current !== value) showHtml(root.current, value)
    lastHtml.current = value
  }, [value])
  useEffect(() => {
    const remember = () => {
      const selection = getSelection()
      if (selection?.rangeCount && root.current?.contains(selection.anchorNode)) range.current = selection.getRangeAt(0)
    }
    document.addEventListener('selectionchange', remember)
    return () => document.removeEventListener('selectionchange', remember)
  }, [])
  const emit = () => {
    if (!root.current) return
    lastHtml.current = readHtml(root.current)
    onChange(lastHtml.current)
  }
  /** Commands of the browser work on what was selected last, and can be undone with Ctrl+Z. */
  const run = (command: string, argument?: string) => {
    root.current?.focus()
    if (range.current) {
      getSelection()?.removeAllRanges()
      getSelection()?.addRange(range.current)
    }
    document.execCommand(command, false, argument)
    emit()
  }
  return (
    <Stack gap={4}>
      <FieldLabel label={label} mark={mark}>
        <Group gap={2} wrap="nowrap" role="toolbar" aria-label={label}>
          <ToolButton label={t.bold} icon={IconBold} press={() => run('bold')} />
          <ToolButton label={t.italic} icon={IconItalic} press={() => run('italic')} />
          <LinkButton set={(href) => run(href === '' ? 'unlink' : 'createLink', href)} />
          <ToolButton label={t.list} icon={IconList} press={() => run('insertUnorderedList')} />
          <ToolButton label={t.numbers} icon={IconListNumbers} press={() => run('insertOrderedList')} />
          <VariableMenu insert={(text) => run('insertText', text)} />
          {toggle}
        </Group>
      </FieldLabel>
      <div
        ref={root}
        className="rich-text"
        contentEditable
        suppressContentEditableWarning
        role="textbox"
        aria-multiline
        aria-label={label}
        aria-invalid={error !== undefined}
        tabIndex={0}
        lang={language}
        onFocus={() => document.execCommand('defaultParagraphSeparator', false, 'p')}
        onInput={emit}
        onPaste={(event) => {
          event.preventDefault()
          const html = event.clipboardData.getData('text/html')
          if (html) run('insertHTML', cleanHtml(html))
          else run('insertText', event.clipboardData.getData('text/plain'))
        }}
      />
      {error && <Input.Error role="alert">{error}</Input.Error>}
    </Stack>
  )
}

function LinkButton({ set }: { set: (href: string) => void }) {
  const [isOpen, setOpen] = useState(false)
  const [href, setHref] = useState('')
  const close = () => {
    setOpen(false)
    setHref('')
  }
  const submit = () => {
    set(href.trim() === '' || isLink(href) ? href.trim() : `https://${href.trim()}`)
    close()
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus shadow="md" width={300}>
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={24}
          aria-label={t.link}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => setOpen(!isOpen)}
        >
          <IconLink size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <TextInput
            label={t.address}
            description={t.linkHint}
            value={href}
            onChange={(event) => setHref(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              event.preventDefault()
              submit()
            }}
          />
          <Button size="xs" onClick={submit}>
            {href.trim() === '' ? t.removeLink : t.setLink}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
