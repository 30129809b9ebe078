/** Buttons: primary, neutral, ghost and destructive. Hover only changes the background. */
import { clsx } from 'clsx';
import type { ComponentProps, ReactNode } from 'react';

export type ButtonVariant = 'primary' | 'neutral' | 'ghost' | 'destructive';
export type ButtonSize = 'small' | 'normal' | 'form';

const VARIANTS: Record<ButtonVariant, string> = {
  primary: 'bg-accent text-on-accent border-accent hover:bg-accent-hover hover:border-accent-hover',
  neutral: 'bg-raise text-ink border-line-strong hover:bg-hover',
  ghost: 'bg-transparent text-ink-2 border-transparent hover:bg-hover',
  destructive: 'bg-raise text-bad border-bad hover:bg-bad-soft',
};

const SIZES: Record<ButtonSize, string> = {
  small: 'h-7 px-2.5 rounded-control touch:h-11 touch:px-3.5',
  normal: 'h-8 px-3 rounded-control touch:h-11 touch:px-4 touch:text-body',
  form: 'h-10 px-4 rounded-control text-body touch:h-11',
};

interface Look {
  variant?: ButtonVariant | undefined;
  size?: ButtonSize | undefined;
  wide?: boolean | undefined;
}

/** The CSS classes of a button, for links that look like buttons. */
export function buttonClass({ variant = 'neutral', size = 'normal', wide = false }: Look): string {
  return clsx(
    'inline-flex items-center justify-center gap-2 border text-table font-[550] whitespace-nowrap',
    'transition-colors duration-[120ms] select-none',
    'disabled:border-line disabled:bg-sunk disabled:text-ink-3',
    VARIANTS[variant],
    SIZES[size],
    wide && 'w-full',
  );
}

interface ButtonProps extends ComponentProps<'button'>, Look {
  icon?: ReactNode;
  /** While true, a spinner replaces the icon and clicks do nothing. */
  busy?: boolean | undefined;
}

/** A button. It stays focusable while busy, so that keyboard users do not lose their place. */
export function Button({
  variant,
  size,
  wide,
  icon,
  busy,
  children,
  className,
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      className={clsx(buttonClass({ variant, size, wide }), className)}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {busy ? <span className="spinner" /> : icon}
      {children}
    </button>
  );
}

/** A square button with only an icon. `label` is its tooltip and its name for screen readers. */
export function IconButton({
  label,
  children,
  className,
  ...rest
}: ComponentProps<'button'> & { label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={clsx(
        'inline-flex size-7 flex-none items-center justify-center ' +
          'rounded-control border border-transparent text-ink-2',
        'transition-colors duration-[120ms] hover:bg-hover disabled:opacity-50 touch:size-11',
        className,
      )}
    >
      {children}
    </button>
  );
}
